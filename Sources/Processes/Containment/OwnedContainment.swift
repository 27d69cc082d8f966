import Glibc

/// Holds those processes of an adopted tree that run as its owner, within another containment.
///
/// Each look judges the processes. `cgroup.kill` is never used, because a process may become foreign meanwhile, and the freezer only as
/// long as it reaches no foreign process.
final class OwnedContainment: Containment {
    private let inner: Containment
    let owner: TreeOwner
    /// The cgroup that foreign processes return to when the app is released.
    private let origin: String?

    init(_ base: Containment, owner: TreeOwner, origin: String?) {
        inner = base
        self.owner = owner
        self.origin = origin
    }

    override var base: Containment { inner }
    override var kind: ContainmentKind { inner.kind }
    override var cgroup: Cgroup? { inner.cgroup }
    override var groupName: String? { inner.groupName }
    override var groupNumber: UInt? { inner.groupNumber }
    override var escaped: [ProcessIdentity] { inner.escaped }

    override func look() -> Look {
        var look = inner.look()
        look.keep { process throws(Errno) in try !isForeign(process.pid) }
        return look
    }

    override func memberIDs() throws(Errno) -> [ProcessID]? {
        guard let numbers = try inner.memberIDs() else { return nil }
        var own: [ProcessID] = []
        for number in numbers where try !isForeign(number) { own.append(number) }
        return own
    }

    /// Returns the processes of the tree that do not run as its owner, those of its descendants included that it does
    /// not hold.
    func foreigners() -> [ProcessStatus] {
        var descendants = Descendants()
        for member in inner.members() { descendants.add(member) }
        return descendants.look.members.filter { (try? isForeign($0.pid)) == true }
    }

    /// A process that has ended since it was listed is not foreign: it may have left a child, which a look must not miss.
    private func isForeign(_ pid: ProcessID) throws(Errno) -> Bool {
        try owner.owns(pid) ? false : ProcessStatus(of: pid)?.isZombie == false
    }

    private func freezesForeigner() throws(Errno) -> Bool {
        for member in try inner.look().all() where inner.freezes(member) {
            if try isForeign(member.pid) { return true }
        }
        return false
    }

    override var isGroupAlone: Bool { inner.isGroupAlone }

    override func freezes(_ process: ProcessStatus) -> Bool { inner.freezes(process) }

    override func lookOutside(_ members: [ProcessStatus]) throws(Errno) -> Bool {
        try inner.lookOutside(inner.look().all())
    }

    override func maySignal(_ pid: ProcessID) throws(Errno) -> Bool { try owner.owns(pid) }

    override func claims(_ process: ProcessStatus) throws(Errno) -> Bool { try inner.claims(process) }

    override func leaderWasReaped() { inner.leaderWasReaped() }

    override var changeDescriptors: [Int32] { inner.changeDescriptors }

    override var units: [String] { inner.units }

    override var endsWhenEmpty: Bool { inner.endsWhenEmpty }

    override func acknowledgeChange() -> Bool { inner.acknowledgeChange() }

    override var mayStayFrozen: Bool { inner.mayStayFrozen }

    override func freeze() -> Bool { (try? freezesForeigner()) == false && inner.freeze() }

    override func thaw() { inner.thaw() }

    override var isAskedToFreeze: Bool { inner.isAskedToFreeze }

    /// A process that was about to gain rights may have been frozen with them: the group is thawed then.
    override func isFrozen() throws(Errno) -> Bool {
        guard try inner.isFrozen() else { return false }
        if try !freezesForeigner() { return true }
        inner.thaw()
        return false
    }

    override func discard() {
        if let group = inner.cgroup, let origin {
            Relocation(to: Cgroup(mountPoint: group.mountPoint, name: origin)).empty(group)
        }
        inner.discard()
    }
}

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

    /// Returns whether the process that has a number now runs as the owner in every respect: false if it has ended.
    ///
    /// The answer holds for a signal only if a pidfd of the process was open before. A process can still gain rights
    /// between the answer and the signal, but a process that the owner may signal does not do so unless it chooses to.
    func owns(_ pid: ProcessID) throws(Errno) -> Bool {
        try user == 0 ? true : RunningProcess.users(of: pid)?.allSatisfy { $0 == user } ?? false
    }
}

/// A process that a tree does not reach, mostly because it runs as another user than the owner of the tree.
public struct ForeignProcess: Sendable {
    /// The number, program and state of the process.
    public let info: ProcessInfo
    /// Its user, or the first of its real, effective and saved user that is not the owner.
    public let user: UInt32

    /// The name of the user, or the number if it has no name.
    public var userName: String { UserAccount.name(ofUserID: user) }
}

extension ProcessTree {
    /// The containment, if it limits the tree to the processes of its owner.
    private var owned: OwnedContainment? { containment as? OwnedContainment }

    /// Returns the processes of this moment that the tree does not reach: foreign ones, and those that did not take the
    /// signal of a stop that is wanted.
    public func foreignProcesses() -> [ForeignProcess] {
        guard let owned else { return refusingProcesses() }
        return owned.foreigners().compactMap { status in
            let users = (try? RunningProcess.users(of: status.pid)) ?? []
            return users.first { $0 != owned.owner.user }.map { ForeignProcess(info: ProcessInfo(status), user: $0) }
        }
    }

    private func refusingProcesses() -> [ForeignProcess] {
        guard desiredState == .stopped, !isFreezing else { return [] }
        return Set(refused.map { $0.process }).sorted { $0.pid < $1.pid }.compactMap { process in
            guard let status = try? process.readStatus(), !status.state.isStoppedOrTraced,
                let user = (try? RunningProcess.users(of: process.pid))?.first
            else { return nil }
            return ForeignProcess(info: ProcessInfo(status), user: user)
        }
    }

    /// Returns whether a process runs as a user whose processes the tree does not reach.
    public func isForeign(_ pid: ProcessID) -> Bool {
        (try? RunningProcess.users(of: pid)) != nil && (try? (owner ?? TreeOwner(user: geteuid())).owns(pid)) == false
    }

    /// A Boolean value that indicates whether the main process runs, and has become foreign.
    public var isMainForeign: Bool {
        guard let owned, exitStatus == nil, (try? main.hasEnded()) == false else { return false }
        return (try? owned.owner.owns(main.pid)) == false
    }

    /// A Boolean value that indicates whether `changeDescriptors` tell of the end of the last process. The kernel does
    /// not while a foreign process is in the cgroup; a unit with one lasts.
    public var tellsWhenEmptied: Bool {
        !changeDescriptors.isEmpty && (owned == nil || containment.endsWhenEmpty)
    }
}
