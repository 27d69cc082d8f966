/// The user that controls an adopted tree, and so the only one whose processes the tree may reach.
///
/// A process of the tree can gain the rights of another user, as sudo(8) does, and a user can control through the daemon
/// nothing that is beyond kill(2). Such a process is foreign: the tree neither signals nor freezes it.
public struct TreeOwner: Hashable, Sendable {
    /// The number of the user. Root owns every process.
    public let user: UInt32

    /// An owner of this number.
    public init(user: UInt32) { self.user = user }

    /// The owner of a process: its user; root if its real, effective and saved user differ.
    ///
    /// - Parameter users: The three users.
    public init(ofProcessWith users: [UInt32]) {
        user = users.first.map { first in users.allSatisfy { $0 == first } ? first : 0 } ?? 0
    }

    /// Whether the process that has a number now runs as the owner in every respect: false if it has ended.
    ///
    /// The answer holds for a signal only if a pidfd of the process was open before. A process can still gain rights
    /// between the answer and the signal, but a process that the owner may signal does not do so unless it chooses to.
    func owns(_ pid: ProcessID) -> Bool {
        user == 0 || RunningProcess.users(of: pid)?.allSatisfy { $0 == user } ?? false
    }
}

/// A process in a tree that runs as another user than the owner of the tree.
public struct ForeignProcess: Sendable {
    /// The process.
    public let info: ProcessInfo
    /// The first of its real, effective and saved user that is not the owner.
    public let user: UInt32

    /// The name of the user, or the number if it has no name.
    public var userName: String { (try? UserAccount.withUserID(user))?.name ?? String(user) }
}

extension ProcessTree {
    /// The processes of this moment that the tree does not reach: foreign ones, and those that did not take the signal of a
    /// stop that is wanted.
    public func foreignProcesses() -> [ForeignProcess] {
        guard let owned = containment.owned else { return refusingProcesses() }
        return owned.foreigners().compactMap { status in
            let users = RunningProcess.users(of: status.pid) ?? []
            return users.first { $0 != owned.owner.user }.map { ForeignProcess(info: ProcessInfo(status), user: $0) }
        }
    }

    private func refusingProcesses() -> [ForeignProcess] {
        guard wish == .stopped, !isFreezing else { return [] }
        return Set(refused.map { $0.process }).sorted { $0.pid < $1.pid }.compactMap { process in
            guard let status = ProcessStatus(of: process.pid), status.identity == process, !status.state.isHeld,
                let user = RunningProcess.users(of: process.pid)?.first
            else { return nil }
            return ForeignProcess(info: ProcessInfo(status), user: user)
        }
    }

    /// Whether the main process runs, and has become foreign.
    public var isMainForeign: Bool {
        guard let owned = containment.owned, exitStatus == nil,
            ProcessStatus(of: main.pid).map({ $0.identity == main && !$0.isZombie }) ?? false
        else { return false }
        return !owned.owner.owns(main.pid)
    }

    /// Continues the foreign processes that an earlier version of this program has stopped.
    func releaseForeigners() {
        guard wish == .stopped, let owned = containment.owned else { return }
        let foreigners = owned.foreigners()
        guard !foreigners.isEmpty else { return }
        _ = stopWithoutFreezing()
        for process in foreigners where process.state == .stopped && !heldBefore.contains(process.identity) {
            _ = SignalDelivery.send(.resume, to: process.identity)
        }
    }

    /// Whether the end of the last process is told by `changeDescriptor`. The kernel does not tell of it while a foreign
    /// process is in the cgroup.
    public var tellsWhenEmptied: Bool { changeDescriptor != nil && containment.owned == nil }
}
