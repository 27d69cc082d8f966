import Glibc

/// Holds an adopted program in its cgroup: by descent from its main process, and by the sessions that members have made.
///
/// Its own process group and session may be a shell's, so neither counts, and it has no mark. A process that was seen as a member stays
/// one. A process escapes if its parent ends before a look has found it and no member has made its session.
final class DescentContainment: Containment {
    private let main: ProcessIdentity
    /// The members of the latest look, and those that were known from before.
    private var seen: Set<ProcessIdentity>
    /// The sessions that members have made. A number belongs to a session as long as a process is in it.
    private var sessions: Set<ProcessID> = []
    /// The members of the latest look that are not below the main process.
    private var outside: [ProcessIdentity]

    /// - Parameter known: Others that are known to be members.
    init(main: ProcessIdentity, known: [ProcessIdentity]) {
        self.main = main
        seen = Set(known)
        outside = known
    }

    override var escaped: [ProcessIdentity] { outside }

    /// Finds the main process and its descendants first. A process of the machine that ends meanwhile could have been a member.
    override func look() -> Look {
        let before = (seen: seen, sessions: sessions, outside: outside)
        var look = Look()
        let numbers = look.reading { () throws(Errno) in try ProcFile.processIDs(in: "/proc") } ?? []
        let all = numbers.compactMap { number in
            look.reading { () throws(Errno) in try ProcessStatus(of: number) } ?? nil
        }
        let known = all.filter(isKnown)
        let identities = Set(known.identities)
        sessions = ownSessions(of: known)

        var descendants = Descendants(children: Children(among: all))
        if let main = known.first(where: { $0.identity == main }) { descendants.add(main) }
        let count = descendants.look.members.count
        for process in all where identities.contains(process.identity) || sessions.contains(process.session) {
            descendants.add(process)
        }
        let found = descendants.look.members
        outside = found.dropFirst(count).identities
        look += descendants.look
        seen = Set(found.identities)
        sessions.formUnion(ownSessions(of: found))
        if !look.isComplete {
            // A process that could not be seen stays known.
            seen.formUnion(before.seen)
            sessions.formUnion(before.sessions)
            outside += before.outside.filter { !outside.contains($0) }
        }
        look.gone.formUnion(Set(numbers).subtracting(all.pids))
        return look
    }

    private func isKnown(_ process: ProcessStatus) -> Bool {
        process.identity == main || seen.contains(process.identity)
    }

    /// Returns the sessions that one of these leads, or that were known as such and still have one of these in them.
    private func ownSessions(of processes: [ProcessStatus]) -> Set<ProcessID> {
        let led = processes.filter { $0.session == $0.pid || sessions.contains($0.session) }
        return Set(led.map { $0.session }).subtracting([getsid(0)])
    }

    /// Returns whether the latest look, or a sign of the process itself or of a parent of it, makes it a member.
    override func claims(_ process: ProcessStatus) throws(Errno) -> Bool {
        try process.isOrComesFrom { isKnown($0) || sessions.contains($0.session) }
    }
}

extension SavedTree {
    /// Returns a containment for the tree of the previous daemon that has no cgroup.
    ///
    /// - Parameter keepers: Connects to the keeper; nil to look at the processes only.
    func containmentWithoutGroup(keepers: KeeperProgram?, helpers: HelperPrograms) -> Containment {
        let known = stoppedByOthers + escaped
        guard let keeper else { return DescentContainment(main: main, known: known) }
        let link = keepers?.find(keeper, of: token) ?? Keeper(keeper, line: nil)
        return KeeperContainment(link, main: main, known: known, orphans: nil, helpers: helpers)
    }
}
