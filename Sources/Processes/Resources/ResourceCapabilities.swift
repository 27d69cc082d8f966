import CLinux
import Glibc

/// The parts of a ``ResourceProfile`` that this process can apply on this machine.
public struct ResourceCapabilities: Hashable, Sendable {
    /// The attributes of the apps' cgroups that can be written.
    var attributes = CaseSet<GroupAttribute>()
    /// The settings that can be changed for each process or thread.
    var settings = CaseSet<ResourceSetting>()
    /// A Boolean value that indicates whether a value better than a process's own can be set.
    var canLowerNice = false
    var canLowerOOMScore = false
    var canSetRealTimeIO = false

    /// Creates the capabilities of a process that can apply nothing.
    init() {}

    /// Finds out what can be done, once: by trying it in a child that lives for some microseconds.
    ///
    /// - Parameter cgroups: The subtree of the apps' cgroups, with the controllers enabled that are to be used.
    public init(cgroups: CgroupSubtree?) {
        self.init(abilities: max(linux_probe_resources(), 0), groups: cgroups?.apps)
    }

    init(abilities: Int32, groups: Cgroup?) {
        func can(_ ability: linux_resource_ability) -> Bool { UInt32(abilities) & ability.rawValue != 0 }
        if let groups { attributes = CaseSet(GroupAttribute.allCases.filter { groups.has($0.name.description) }) }
        canLowerNice = can(LINUX_CAN_LOWER_NICE)
        canSetRealTimeIO = can(LINUX_CAN_SET_REAL_TIME_IO)
        canLowerOOMScore = can(LINUX_CAN_LOWER_OOM_SCORE)
        if !attributes.contains(.cpuWeight), can(LINUX_CAN_RESTORE_NICE) { settings.insert(.nice) }
        if !attributes.contains(.ioWeight), can(LINUX_CAN_SET_IO_PRIORITY) { settings.insert(.ioPriority) }
        if can(LINUX_CAN_RESTORE_OOM_SCORE) { settings.insert(.oomScoreAdjustment) }
        if can(LINUX_CAN_SET_TIMER_SLACK) { settings.insert(.timerSlack) }
    }
}

// MARK: - In words

extension ResourceCapabilities {
    /// The resources that are controlled, and by which means: one clause each.
    public var done: [String] {
        var words: [String] = []
        if attributes.contains(.cpuWeight) {
            words.append("processor time by weight")
        } else if settings.contains(.nice) {
            words.append("processor time by nice values")
        }
        if attributes.contains(.ioWeight) {
            words.append("I/O by weight")
        } else if settings.contains(.ioPriority) {
            words.append("I/O by priority")
        }
        if attributes.contains(.memoryLow) { words.append("memory protection") }
        if attributes.contains(.processLimit) { words.append("a limit of processes") }
        if settings.contains(.oomScoreAdjustment) { words.append("the order in which the kernel kills") }
        if settings.contains(.timerSlack) { words.append("timer slack") }
        return words
    }

    /// The resources that are not controlled, and the reason: one clause each.
    public var leftOut: [String] {
        var words: [String] = []
        if !attributes.contains(.cpuWeight), !settings.contains(.nice) {
            words.append(
                "processor time (no cpu controller, and no CAP_SYS_NICE or RLIMIT_NICE to restore nice values)")
        }
        if !attributes.contains(.ioWeight), !settings.contains(.ioPriority) {
            words.append("I/O (no io controller, and ioprio_set is refused)")
        }
        if !attributes.contains(.memoryLow) { words.append("memory protection (no memory controller)") }
        if !attributes.contains(.processLimit) { words.append("a limit of processes (no pids controller)") }
        if !settings.contains(.oomScoreAdjustment) {
            words.append("the order in which the kernel kills (no right to restore oom_score_adj)")
        }
        if !settings.contains(.timerSlack) { words.append("timer slack (it needs CAP_SYS_NICE)") }
        return words
    }
}

// MARK: - Profiles

extension ResourceCapabilities {
    /// Returns the value that a profile wants for each process or thread; nil if it wants none, or it cannot be set.
    func wanted(_ setting: ResourceSetting, by profile: ResourceProfile) -> Int? {
        guard settings.contains(setting), let wanted = setting.wanted(by: profile) else { return nil }
        return canSet(setting, to: wanted) ? wanted : nil
    }

    private func canSet(_ setting: ResourceSetting, to value: Int) -> Bool {
        switch setting {
        case .nice: value >= 0 || canLowerNice
        case .ioPriority: value >= IOPriority.bestEffort(0).rawValue || canSetRealTimeIO
        case .oomScoreAdjustment: value >= 0 || canLowerOOMScore
        case .timerSlack: true
        }
    }

    /// Returns the values of a profile that this process may not set.
    ///
    /// - Parameter profile: The values to set. ``leftOut`` has the resources that this process cannot control with any value.
    /// - Returns: The key of each refused value, and the privilege that it needs as part of a sentence; empty if the process may
    ///   set all of them.
    public func refused(_ profile: ResourceProfile) -> [(key: String, cause: String)] {
        var refused: [(key: String, cause: String)] = []
        for setting in ResourceSetting.allCases where settings.contains(setting) {
            guard let value = setting.wanted(by: profile), !canSet(setting, to: value) else { continue }
            switch setting {
            case .nice: refused.append(("nice", "a negative nice value needs CAP_SYS_NICE or RLIMIT_NICE"))
            case .ioPriority: refused.append(("ioPriority", "real-time I/O needs CAP_SYS_ADMIN or CAP_SYS_NICE"))
            case .oomScoreAdjustment:
                refused.append(("oomScoreAdjustment", "a negative oom_score_adj needs CAP_SYS_RESOURCE"))
            case .timerSlack: break
            }
        }
        return refused
    }
}
