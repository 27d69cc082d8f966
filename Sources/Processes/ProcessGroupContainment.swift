import Glibc

/// Holds an app by the process group and session of its main process, and by what its descendants cannot shed.
///
/// A descendant outside the group is found below the main process, or, once its parents have ended, among the
/// adopted orphans. An orphan belongs to the app when it was seen as a member before, when it is in a session of
/// a member, or when it carries the app's launch token. One that was never seen, left its session and runs a
/// program with a cleaned environment escapes: only a cgroup holds it.
final class ProcessGroupContainment: SignalledContainment {
    private let leader: ProcessIdentity
    private let token: LaunchToken
    private let orphans: AdoptedOrphans
    private var leaderIsReaped = false
    /// The members of the latest look, and their sessions: a session exists while it has a member.
    private var seen: Set<ProcessIdentity> = []
    private var sessions: Set<ProcessID> = []
    private let listsChildren: Bool

    init(
        leader: ProcessIdentity, token: LaunchToken, orphans: AdoptedOrphans,
        childrenAreListedByKernel: Bool = Children.areListedByKernel
    ) {
        self.leader = leader
        self.token = token
        self.orphans = orphans
        listsChildren = childrenAreListedByKernel
        sessions = [leader.pid]
    }

    func members() -> [ProcessStatus] {
        let children = Children(listedByKernel: listsChildren)
        var descendants = Descendants(children: children)
        if !leaderIsReaped, let main = ProcessStatus(of: leader.pid) {
            descendants.add(main)
        }
        // Last: what leaves the tree while it is walked arrives here.
        for orphan in orphans.list(children) where claims(orphan) {
            descendants.add(orphan)
        }
        remember(descendants.found)
        return descendants.found
    }

    func claims(_ process: ProcessStatus) -> Bool {
        seen.contains(process.identity) || isInOwnSession(process) || LaunchMark.token(of: process.pid) == token
    }

    func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? {
        // Until the leader is reaped its number, and so the group's, cannot be reused.
        guard !leaderIsReaped, SignalDelivery.send(signal, toGroup: leader.pid) == nil else { return nil }
        return { [leader] in $0.processGroup == leader.pid }
    }

    func leaderWasReaped() {
        leaderIsReaped = true
    }

    private func isInOwnSession(_ process: ProcessStatus) -> Bool {
        guard sessions.contains(process.session) else { return false }
        // A session that ended leaves a number that another app's main process may have now.
        let isOurLeaders = process.session == leader.pid && !leaderIsReaped
        return isOurLeaders || !orphans.isMainProcess(process.session)
    }

    private func remember(_ members: [ProcessStatus]) {
        seen = Set(members.map(\.identity))
        sessions = Set(members.map(\.session))
        if !leaderIsReaped { sessions.insert(leader.pid) }
        // A child that has not come to its setsid(2) yet is still in ours.
        sessions.remove(getsid(0))
    }
}
