/// Holds those processes of an adopted tree that run as its owner, within another containment.
///
/// The processes are judged at each look. The calls of the kernel that reach a whole cgroup are not used for a tree with
/// a foreign process: `cgroup.kill` never, because a process may become foreign meanwhile, and the freezer only as long as
/// no foreign process is inside.
final class OwnedContainment: Containment {
    private let inner: Containment
    let owner: TreeOwner
    /// The cgroup that foreign processes return to when the tree is given back.
    private let origin: String?

    init(_ base: Containment, owner: TreeOwner, origin: String?) {
        inner = base
        self.owner = owner
        self.origin = origin
    }

    override var base: Containment { inner }
    override var owned: OwnedContainment? { self }
    override var processGroup: ProcessGroupContainment? { inner.processGroup }
    override var kind: ContainmentKind { inner.kind }
    override var cgroup: Cgroup? { inner.cgroup }
    override var groupName: String? { inner.groupName }
    override var strays: [ProcessIdentity] { inner.strays }

    override func members() -> [ProcessStatus] { inner.members().filter { owner.owns($0.pid) } }

    override func memberIDs() -> [ProcessID]? { inner.memberIDs()?.filter(owner.owns) }

    /// The processes of the tree that do not run as its owner, those of its descendants included that it does not hold.
    func foreigners() -> [ProcessStatus] {
        var descendants = Descendants(children: Children())
        for member in inner.members() { descendants.add(member) }
        return foreigners(among: descendants.found)
    }

    private func foreigners(among processes: [ProcessStatus]) -> [ProcessStatus] {
        processes.filter { process in
            !owner.owns(process.pid)
                && ProcessStatus(of: process.pid).map { $0.identity == process.identity && !$0.isZombie } ?? false
        }
    }

    private var holdsForeigner: Bool { !foreigners(among: inner.members()).isEmpty }

    override var isGroupAlone: Bool { inner.isGroupAlone }

    override func freezes(_ process: ProcessStatus) -> Bool { inner.freezes(process) }

    override func lookOutside(_ members: [ProcessStatus]) -> Bool { inner.lookOutside(inner.members()) }

    override func maySignal(_ pid: ProcessID) -> Bool { owner.owns(pid) }

    override func claims(_ process: ProcessStatus) -> Bool { inner.claims(process) }

    override func leaderWasReaped() { inner.leaderWasReaped() }

    override var changeDescriptor: Int32? { inner.changeDescriptor }

    override func acknowledgeChange() -> Bool { inner.acknowledgeChange() }

    override func freeze() -> Bool { !holdsForeigner && inner.freeze() }

    override func thaw() { inner.thaw() }

    override var isAskedToFreeze: Bool { inner.isAskedToFreeze }

    /// A process that was about to gain rights may have been frozen with them: the group is thawed then.
    override var isFrozen: Bool {
        guard inner.isFrozen else { return false }
        if !holdsForeigner { return true }
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
