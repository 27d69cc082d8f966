import Glibc

/// Holds an app that an earlier process launched without a cgroup, by the signs of `ProcessGroupContainment`.
///
/// Its orphans have gone to process 1 or to a subreaper between, so each look is one pass over all processes of `/proc`. Its claims must
/// be sure at that moment: the processes that it finds may belong to any program.
final class RestoredContainment: Containment {
    private let main: ProcessIdentity
    private let token: LaunchToken
    /// The user of the launch; nil if it is not known, and the mark finds no process.
    private let user: UInt32?
    /// The members of the latest look, and those that were known from before.
    private var seen: Set<ProcessIdentity>
    /// The processes that were found not to be members: a member has the mark, and is beside the main process, from
    /// birth.
    private var unmarked: Set<ProcessIdentity> = []
    private let marks: LaunchMarks
    /// Where the main process is in every hierarchy of cgroups, and where this one is, as its predecessor was: a process
    /// that ends is moved to the root of some.
    private let cgroups: Set<[UInt8]>
    private let helpers: HelperPrograms
    private let lost: LostOrphans

    /// - Parameter known: Others that are known to be members.
    init(
        main: ProcessIdentity, token: LaunchToken, user: UInt32?, known: some Sequence<ProcessIdentity>,
        helpers: HelperPrograms,
        marks: LaunchMarks
    ) {
        self.helpers = helpers
        self.marks = marks
        self.main = main
        self.token = token
        self.user = user
        seen = Set(known)
        cgroups = Set([getpid(), main.isCurrent ? main.pid : getpid()].compactMap(Self.cgroups))
        let reapers = Set([1] + ([main] + known).compactMap { $0.status?.parent })
        lost = LostOrphans(reapers: reapers, startTime: main.startTime, cgroups: cgroups, user: nil)
    }

    /// Returns the members in the order of their starts, so parents come first.
    override func members() -> [ProcessStatus] {
        // The kernel's own have no session.
        let all = ProcessStatus.all().filter { $0.session != 0 }
            .sorted { ($0.startTime, $0.pid) < ($1.startTime, $1.pid) }
        let known = Set(all.filter { isKnown($0) && !isReleased($0) }.identities)
        // A number belongs to a session as long as a process is in it, or its first process has not been reaped.
        var sessions = Set(all.filter { known.contains($0.identity) }.map { $0.session })
        sessions.remove(getsid(0))

        var descendants = Descendants(children: Children(among: all))
        for process in all
        where known.contains(process.identity) || sessions.contains(process.session) && !isReleased(process) {
            descendants.add(process)
        }
        seen = Set(descendants.found.identities)
        unmarked.formIntersection(all.identities)
        return descendants.found
    }

    /// Returns whether the latest look, or a sign of the process itself or of a parent of it, makes it a member.
    override func claims(_ process: ProcessStatus) -> Bool {
        process.isOrComesFrom { isKnown($0) || isInMainSession($0) }
    }

    override var lostOrphans: LostOrphans? { lost }

    override func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? {
        // A helper that has left its parent may still be in the group, and is not to get the signal.
        let group = ProcessStatus.all().filter { $0.processGroup == main.pid }
        guard !group.contains(where: isReleased) else { return nil }
        return SignalDelivery.send(signal, toGroupLedBy: main) ? { [main] in $0.processGroup == main.pid } : nil
    }
}

extension RestoredContainment {
    private func isKnown(_ process: ProcessStatus) -> Bool {
        process.identity == main || seen.contains(process.identity) || isMarked(process)
    }

    /// Returns whether it is a helper that is no longer below the main process.
    private func isReleased(_ process: ProcessStatus) -> Bool {
        guard process.identity != main, helpers.include(process) else { return false }
        return !process.isOrComesFrom { $0.identity == main }
    }

    private func isInMainSession(_ process: ProcessStatus) -> Bool {
        process.session == main.pid && main.isCurrent
    }

    private func isMarked(_ process: ProcessStatus) -> Bool {
        guard !process.isZombie, !unmarked.contains(process.identity) else { return false }
        guard isBesideMain(process) else {
            unmarked.insert(process.identity)
            return false
        }
        guard let mark = marks[process.identity] else { return false }
        guard mark == .token(token) else {
            unmarked.insert(process.identity)
            return false
        }
        return marks.have(token, of: user, on: process.identity)
    }

    /// Returns whether a process is in a cgroup of the main process or of this one.
    ///
    /// A desktop can pass its environment, with the mark, to the service manager, and so to every service of that user;
    /// those have cgroups of their own.
    private func isBesideMain(_ process: ProcessStatus) -> Bool {
        Self.cgroups(of: process.pid).map(cgroups.contains) ?? false
    }

    static func cgroups(of pid: ProcessID) -> [UInt8]? {
        ProcFile.read("/proc/\(pid)/cgroup", limit: 1 << 16)
    }
}

/// The marks of a process that a restored or adopted app may have orphaned unseen, and that has left its session and emptied its
/// environment.
struct LostOrphans {
    /// The processes that become the parents of the app's orphans.
    let reapers: Set<ProcessID>
    /// The start of the app's main process, or its adoption.
    let startTime: UInt64
    /// The cgroups of such a process, one in every hierarchy.
    let cgroups: Set<[UInt8]>
    /// The user whose processes the app can have; nil for any user.
    let user: UInt32?

    /// Returns whether it or a process that it comes from has all marks. Others have them too: what becomes a daemon.
    func mayInclude(_ process: ProcessStatus) -> Bool { process.isOrComesFrom(haveMarks) }

    /// Returns whether a process has all marks itself.
    func haveMarks(_ process: ProcessStatus) -> Bool {
        reapers.contains(process.parent) && process.startTime >= startTime && isOfUser(process)
            && RestoredContainment.cgroups(of: process.pid).map(cgroups.contains) ?? true
    }

    private func isOfUser(_ process: ProcessStatus) -> Bool {
        guard let user, let users = RunningProcess.users(of: process.pid) else { return true }
        return users.contains(user)
    }
}
