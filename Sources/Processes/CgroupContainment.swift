import CLinux

/// Holds an app by a cgroup that its main process was born in: nothing that a process does to its session, its parents
/// or its environment takes it out.
///
/// A process leaves only if it may write to the hierarchy, or if systemd moves it at its request. It is then held by
/// descent; see ``lookOutside(_:)``.
final class CgroupContainment: Containment {
    override var kind: ContainmentKind { .cgroup }
    override var cgroup: Cgroup? { group }
    override var groupName: String? { name }

    let group: Cgroup
    private let name: String
    let subtree: CgroupSubtree
    private let events: CgroupEventFile
    private var isFreezeRequested: Bool
    /// The launch whose processes the group holds, once there is one.
    var launch: Launch?
    /// The known members that are not in the group.
    var outside: Set<ProcessIdentity> = []
    private(set) var leaderIsReaped = false
    /// Whether a look has found more than one member.
    private(set) var hadSeveral = false

    /// - Parameter group: A group of the subtree in which nothing else is, removed with the containment.
    /// - Parameter isAskedToFreeze: Whether it was before.
    init(group: Cgroup, subtree: CgroupSubtree, isAskedToFreeze: Bool = false) throws(Errno) {
        self.group = group
        name = group.lastName
        self.subtree = subtree
        isFreezeRequested = isAskedToFreeze
        events = try CgroupEventFile(of: group)
    }

    override var changeDescriptor: Int32? { events.descriptor.rawValue }

    /// In the order in which they started.
    override func members() -> [ProcessStatus] {
        let numbers = numbers()
        var found = numbers.compactMap { ProcessStatus(of: $0) }.filter { !$0.isZombie }
        if hasOutside(numbers) { found += membersOutside(numbers) }
        if found.count > 1 { hadSeveral = true }
        return found.count < 2 ? found : found.sorted { ($0.startTime, $0.pid) < ($1.startTime, $1.pid) }
    }

    override func memberIDs() -> [ProcessID]? {
        let numbers = numbers()
        return hasOutside(numbers) ? numbers + membersOutside(numbers).pids : numbers
    }

    private func numbers() -> [ProcessID] {
        let me = getpid()
        return group.processIDs().filter { $0 != me && $0 != 1 }
    }

    override func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? {
        // It passes over processes whose first thread has ended (seen on 6.18).
        signal == .kill && (try? group.write("1", to: "cgroup.kill")) != nil
            ? { [outside] in !$0.state.isGone && !outside.contains($0.identity) } : nil
    }

    override func claims(_ process: ProcessStatus) -> Bool {
        if Cgroup.name(of: process.pid).map(group.contains(groupNamed:)) ?? false { return true }
        return !outside.isEmpty && process.isOrComesFrom { outside.contains($0.identity) }
    }

    override func leaderWasReaped() {
        leaderIsReaped = true
        if hadSeveral { _ = lookOutside([]) }
    }

    override func acknowledgeChange() -> Bool { events.read() != nil }

    override func discard() {
        subtree.discard(group)
    }

    override func release(_ members: [ProcessStatus]) -> [ProcessStatus] { releaseHelpers(members) }

    override func lookOutside(_ members: [ProcessStatus]) -> Bool { findMembersOutside(members) }

    override var strays: [ProcessIdentity] { outside.sorted { $0.pid < $1.pid } }

    // MARK: - Freezing

    override var isAskedToFreeze: Bool { isFreezeRequested }

    override func freeze() -> Bool {
        isFreezeRequested = (try? group.write("1", to: "cgroup.freeze")) != nil
        return isFreezeRequested
    }

    override func thaw() {
        guard isFreezeRequested else { return }
        // A group that stays frozen neither runs nor is stopped by signals, so a call that fails is made once more.
        for _ in 0..<2 where isFreezeRequested {
            isFreezeRequested = (try? group.write("0", to: "cgroup.freeze")) == nil
        }
    }

    override var isGroupAlone: Bool { outside.isEmpty }

    override func freezes(_ process: ProcessStatus) -> Bool { !outside.contains(process.identity) }

    /// The kernel says so of empty groups too.
    override var isFrozen: Bool { isFreezeRequested && events.read()?.isFrozen ?? false }
}
