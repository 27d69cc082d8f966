import CLinux

/// Holds a program that somebody else has started, where it is: by descent from its main process, and by the sessions
/// that it has made since.
///
/// Its process group and its session may be those of a shell, in which others are, too, so neither counts; and it has no
/// mark. Whoever was seen as a member stays one. One that was never seen before its parent ended, and has not come from a
/// session that a member made, escapes.
final class DescentContainment: Containment {
    private let main: ProcessIdentity
    /// The members of the latest look, and those that were known from before.
    private var seen: Set<ProcessIdentity>
    /// The sessions that members have made. A number is a session's as long as somebody is in it.
    private var sessions: Set<ProcessID> = []
    /// The members of the latest look that are not below the main process.
    private var outside: [ProcessIdentity]

    /// - Parameter known: Others that are known to be members.
    init(main: ProcessIdentity, known: [ProcessIdentity]) {
        self.main = main
        seen = Set(known)
        outside = known
    }

    override var strays: [ProcessIdentity] { outside }

    /// The main process and what is below it come first.
    override func members() -> [ProcessStatus] {
        let all = ProcessStatus.all()
        let known = all.filter(isKnown)
        let identities = Set(known.identities)
        sessions = ownSessions(of: known)

        var descendants = Descendants(children: Children(among: all))
        if let main = known.first(where: { $0.identity == main }) { descendants.add(main) }
        let count = descendants.found.count
        for process in all where identities.contains(process.identity) || sessions.contains(process.session) {
            descendants.add(process)
        }
        let found = descendants.found
        outside = found.dropFirst(count).identities
        seen = Set(found.identities)
        sessions.formUnion(ownSessions(of: found))
        return found
    }

    private func isKnown(_ process: ProcessStatus) -> Bool {
        process.identity == main || seen.contains(process.identity)
    }

    /// Those that one of these leads, or that were known as such and still have one of these in them.
    private func ownSessions(of processes: [ProcessStatus]) -> Set<ProcessID> {
        let led = processes.filter { $0.session == $0.pid || sessions.contains($0.session) }
        return Set(led.map { $0.session }).subtracting([getsid(0)])
    }

    /// As of the latest look, or by what the process itself or a parent of it is known by.
    override func claims(_ process: ProcessStatus) -> Bool {
        process.isOrComesFrom { isKnown($0) || sessions.contains($0.session) }
    }
}

extension SavedTree {
    /// What holds the tree of an earlier process where it has no cgroup.
    func containmentWithoutGroup(helpers: HelperPrograms = HelperPrograms()) -> Containment {
        isAdopted
            ? DescentContainment(main: main, known: heldBefore + strays)
            : RestoredContainment(main: main, token: token, known: heldBefore + strays, helpers: helpers)
    }
}
