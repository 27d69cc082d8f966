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
    private let lost: LostOrphans?

    /// - Parameters:
    ///   - known: Others that are known to be members.
    ///   - owner: The user of the members; nil where the record has none.
    ///   - adoptionTime: The time of the adoption, in clock ticks.
    init(main: ProcessIdentity, known: [ProcessIdentity], owner: TreeOwner?, adoptionTime: UInt64) {
        self.main = main
        seen = Set(known)
        outside = known
        lost = LostOrphans(ofAdopted: main, known: known, owner: owner, since: adoptionTime)
    }

    override var lostOrphans: LostOrphans? { lost }

    override var escaped: [ProcessIdentity] { outside }

    /// Returns the main process and its descendants first.
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

    /// Returns the sessions that one of these leads, or that were known as such and still have one of these in them.
    private func ownSessions(of processes: [ProcessStatus]) -> Set<ProcessID> {
        let led = processes.filter { $0.session == $0.pid || sessions.contains($0.session) }
        return Set(led.map { $0.session }).subtracting([getsid(0)])
    }

    /// Returns whether the latest look, or a sign of the process itself or of a parent of it, makes it a member.
    override func claims(_ process: ProcessStatus) -> Bool {
        process.isOrComesFrom { isKnown($0) || sessions.contains($0.session) }
    }
}

extension LostOrphans {
    /// Nil in a login session: its scope has the programs of a whole desktop, which must not lose their rights by the adoption of one.
    fileprivate init?(
        ofAdopted main: ProcessIdentity, known: [ProcessIdentity], owner: TreeOwner?, since adoptionTime: UInt64
    ) {
        guard RunningProcess(of: main.pid)?.loginSession == nil else { return nil }
        // The nearest subreaper gets the orphans, and no file of the kernel names it. A shell above the main process is none.
        let managers = (RunningProcess.ancestors(of: main.pid) ?? []).filter {
            ProcessStatus(of: $0)?.name == "systemd"
        }
        reapers = Set([1] + managers + known.compactMap { $0.status?.parent })
        startTime = adoptionTime
        cgroups = Set(([main] + known).filter { $0.isCurrent }.compactMap { RestoredContainment.cgroups(of: $0.pid) })
        user = owner?.user == 0 ? nil : owner?.user
    }
}

extension SavedTree {
    /// Returns a containment for the tree of an earlier process that has no cgroup.
    ///
    /// - Parameter marks: The marks that were read before, by containments of other trees for example.
    func containmentWithoutGroup(marks: LaunchMarks, helpers: HelperPrograms = HelperPrograms()) -> Containment {
        isAdopted
            ? DescentContainment(
                main: main, known: stoppedByOthers + escaped, owner: owner, adoptionTime: adoptionTime ?? main.startTime
            )
            : RestoredContainment(
                main: main, token: token, user: userOfLaunch, known: stoppedByOthers + escaped, helpers: helpers,
                marks: marks
            )
    }
}
