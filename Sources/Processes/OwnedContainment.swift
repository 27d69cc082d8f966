/// Holds those processes of an adopted tree that run as its owner, within another containment.
///
/// The processes are judged at each look. The calls of the kernel that reach a whole cgroup are not used for a tree with
/// a foreign process: `cgroup.kill` never, because a process may become foreign meanwhile, and the freezer only as long as
/// no foreign process is inside.
final class OwnedContainment: Containment {
    let base: any Containment
    let owner: TreeOwner
    /// The cgroup that foreign processes return to when the tree is given back.
    private let origin: String?

    init(_ base: any Containment, owner: TreeOwner, origin: String?) {
        self.base = base
        self.owner = owner
        self.origin = origin
    }

    var kind: ContainmentKind { base.kind }
    var groupName: String? { base.groupName }

    func members() -> [ProcessStatus] { base.members().filter { owner.owns($0.pid) } }

    func memberIDs() -> [ProcessID]? { base.memberIDs()?.filter(owner.owns) }

    /// The processes of the tree that do not run as its owner, those of its descendants included that it does not hold.
    func foreigners() -> [ProcessStatus] {
        var descendants = Descendants(children: Children())
        for member in base.members() { descendants.add(member) }
        return foreigners(among: descendants.found)
    }

    private func foreigners(among processes: [ProcessStatus]) -> [ProcessStatus] {
        processes.filter { process in
            !owner.owns(process.pid)
                && ProcessStatus(of: process.pid).map { $0.identity == process.identity && !$0.isZombie } ?? false
        }
    }

    private var holdsForeigner: Bool { !foreigners(among: base.members()).isEmpty }

    var isGroupAlone: Bool { base.isGroupAlone }

    func freezes(_ process: ProcessStatus) -> Bool { base.freezes(process) }

    func lookOutside(_ members: [ProcessStatus]) -> Bool { base.lookOutside(base.members()) }

    func maySignal(_ pid: ProcessID) -> Bool { owner.owns(pid) }

    func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? { nil }

    func claims(_ process: ProcessStatus) -> Bool { base.claims(process) }

    func leaderWasReaped() { base.leaderWasReaped() }

    var changeDescriptor: Int32? { base.changeDescriptor }

    func acknowledgeChange() -> Bool { base.acknowledgeChange() }

    func freeze() -> Bool { !holdsForeigner && base.freeze() }

    func thaw() { base.thaw() }

    var isAskedToFreeze: Bool { base.isAskedToFreeze }

    /// A process that was about to gain rights may have been frozen with them: the group is thawed then.
    var isFrozen: Bool {
        guard base.isFrozen else { return false }
        if !holdsForeigner { return true }
        base.thaw()
        return false
    }

    func discard() {
        if let group = (base as? CgroupContainment)?.group, let origin {
            Relocation(to: Cgroup(mountPoint: group.mountPoint, name: origin)).empty(group)
        }
        base.discard()
    }
}

extension Containment {
    /// Returns what holds only those processes that run as the owner.
    ///
    /// - Parameter origin: The cgroup that other processes return to.
    func limited(to owner: TreeOwner, origin: String?) -> any Containment {
        owner.user == 0 ? self : OwnedContainment(self, owner: owner, origin: origin)
    }
}
