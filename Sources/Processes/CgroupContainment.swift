import Glibc

/// Holds an app by a cgroup that its main process was born in: nothing that a process does to its session, its parents
/// or its environment takes it out.
///
/// Only a process that may write to the hierarchy can leave: one of root's, or of the daemon's own user.
final class CgroupContainment: Containment {
    let kind = ContainmentKind.cgroup

    let group: Cgroup
    private let subtree: CgroupSubtree
    private let events: CgroupEventFile
    private(set) var isAskedToFreeze: Bool

    /// - Parameter group: A group of the subtree in which nothing else is, removed with the containment.
    /// - Parameter isAskedToFreeze: Whether it was before.
    init(group: Cgroup, subtree: CgroupSubtree, isAskedToFreeze: Bool = false) throws(Errno) {
        self.group = group
        groupName = group.lastName
        self.subtree = subtree
        self.isAskedToFreeze = isAskedToFreeze
        events = try CgroupEventFile(of: group)
    }

    let groupName: String?

    var changeDescriptor: Int32? { events.descriptor.rawValue }

    /// In the order in which they started.
    func members() -> [ProcessStatus] {
        let found = numbers().compactMap { ProcessStatus(of: $0) }.filter { !$0.isZombie }
        return found.count < 2 ? found : found.sorted { ($0.startTime, $0.pid) < ($1.startTime, $1.pid) }
    }

    func memberIDs() -> [ProcessID]? { numbers() }

    private func numbers() -> [ProcessID] {
        let me = getpid()
        return group.processIDs().filter { $0 != me && $0 != 1 }
    }

    func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? {
        // It passes over processes whose first thread has ended (seen on 6.18).
        signal == .kill && (try? group.write("1", to: "cgroup.kill")) != nil ? { !$0.state.isGone } : nil
    }

    func claims(_ process: ProcessStatus) -> Bool {
        Cgroup.name(of: process.pid).map(group.contains(groupNamed:)) ?? false
    }

    func leaderWasReaped() {}

    func acknowledgeChange() -> Bool { events.read() != nil }

    func discard() {
        subtree.discard(group)
    }
}

// MARK: - Freezing

extension CgroupContainment {
    func freeze() -> Bool {
        isAskedToFreeze = (try? group.write("1", to: "cgroup.freeze")) != nil
        return isAskedToFreeze
    }

    func thaw() {
        guard isAskedToFreeze else { return }
        // A group that stays frozen neither runs nor is stopped by signals, so a call that fails is made once more.
        for _ in 0..<2 where isAskedToFreeze {
            isAskedToFreeze = (try? group.write("0", to: "cgroup.freeze")) == nil
        }
    }

    /// The kernel says so of empty groups too.
    var isFrozen: Bool { isAskedToFreeze && events.read()?.isFrozen ?? false }
}
