import Glibc

/// Holds an app by the process group and session of its main process, and by the marks that its descendants cannot shed.
///
/// A descendant outside the group is found below the main process or, once its parents have ended, among the adopted orphans that
/// ``claims(_:)`` recognizes. Another process escapes: only a cgroup holds it.
final class ProcessGroupContainment: Containment {
    private let leader: ProcessIdentity
    private let token: LaunchToken
    private let user: UInt32
    private let orphans: Orphans
    private var leaderIsReaped = false
    /// The members of the latest look, and their sessions: a session exists while it has a member.
    private(set) var seen: Set<ProcessIdentity> = []
    private var sessions: Set<ProcessID> = []
    private let listsChildren: Bool
    /// The members of the latest look that are not below the main process.
    private var found: [ProcessIdentity] = []
    /// The children of this process that were members, until they are reaped: what they leave behind is the app's.
    private var unreaped: Set<ProcessID> = []

    /// - Parameter user: The user of the launch.
    init(
        leader: ProcessIdentity, token: LaunchToken, user: UInt32, orphans: Orphans,
        childrenAreListedByKernel: Bool = Children.areListedByKernel
    ) {
        self.leader = leader
        self.token = token
        self.user = user
        self.orphans = orphans
        listsChildren = childrenAreListedByKernel
        sessions = [leader.pid]
    }

    override var escaped: [ProcessIdentity] { found }

    override func members() -> [ProcessStatus] {
        let children = Children(listedByKernel: listsChildren)
        var descendants = Descendants(children: children)
        if !leaderIsReaped, let main = ProcessStatus(of: leader.pid) {
            descendants.add(main)
        }
        let count = descendants.found.count
        // Last: what leaves the tree while it is walked arrives here.
        for orphan in orphans.list(children) where claims(orphan) {
            descendants.add(orphan)
        }
        let escaped = descendants.found.dropFirst(count)
        found = escaped.identities
        trackUnreaped(escaped)
        remember(descendants.found)
        return descendants.found
    }

    override func claims(_ process: ProcessStatus) -> Bool {
        seen.contains(process.identity) || isInOwnSession(process)
            || orphans.marks.have(token, of: user, on: process.identity)
    }

    /// Makes processes members that no other sign identifies.
    func claim(_ processes: [ProcessStatus]) {
        seen.formUnion(processes.identities)
        trackUnreaped(processes)
    }

    private func trackUnreaped(_ processes: some Sequence<ProcessStatus>) {
        let me = getpid()
        for process in processes where process.parent == me { unreaped.insert(process.pid) }
    }

    /// Notes that a child of this process has been reaped.
    ///
    /// - Returns: Whether it was a member.
    func orphanWasReaped(_ pid: ProcessID) -> Bool { unreaped.remove(pid) != nil }

    override var mayHaveLeftOthers: Bool { !unreaped.isEmpty }

    override func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? {
        // A helper that has left its parent may still be in the group, and is not to get the signal.
        guard !orphans.helpers().contains(where: { $0.processGroup == leader.pid }) else { return nil }
        // Until the leader is reaped its number, and so the group's, cannot be reused.
        guard !leaderIsReaped, SignalDelivery.send(signal, toGroup: leader.pid) == nil else { return nil }
        return { [leader] in $0.processGroup == leader.pid }
    }

    override func leaderWasReaped() {
        leaderIsReaped = true
    }

    private func isInOwnSession(_ process: ProcessStatus) -> Bool {
        guard sessions.contains(process.session) else { return false }
        // A session that ended leaves a number that another app's main process may have now.
        let isOurLeaders = process.session == leader.pid && !leaderIsReaped
        return isOurLeaders || !orphans.isMainProcess(process.session)
    }

    private func remember(_ members: [ProcessStatus]) {
        seen = Set(members.identities)
        sessions = Set(members.map { $0.session })
        if !leaderIsReaped { sessions.insert(leader.pid) }
        // A child that has not come to its setsid(2) yet is still in ours.
        sessions.remove(getsid(0))
    }
}
