import Glibc

/// The children that this process did not start: descendants of its apps whose own parents have ended.
///
/// A child subreaper gets them from the kernel without a notice, so they are read when they are needed.
final class Orphans {
    /// Processes that fork and end as fast as they can must not keep the reader.
    private static let readLimit = 8

    private var mainProcesses: Set<ProcessID> = []
    private let helperPrograms: HelperPrograms
    /// The marks of processes of the machine.
    let marks = LaunchMarks()

    init(helpers: HelperPrograms = HelperPrograms()) {
        helperPrograms = helpers
    }

    /// Registers a child of our own, from before anything is asked here until it has been reaped.
    func insertMainProcess(_ pid: ProcessID) {
        mainProcesses.insert(pid)
    }

    func removeMainProcess(_ pid: ProcessID) {
        mainProcesses.remove(pid)
    }

    func isMainProcess(_ pid: ProcessID) -> Bool {
        mainProcesses.contains(pid)
    }

    /// Returns the adopted processes of this moment that have not ended and are no helpers.
    func list(_ children: Children) -> [ProcessStatus] { all(children).filter { !helperPrograms.include($0) } }

    /// Returns the adopted processes of this moment that are helpers.
    func helpers() -> [ProcessStatus] {
        helperPrograms.names.isEmpty ? [] : all(Children()).filter { helperPrograms.include($0) }
    }

    private func all(_ children: Children) -> [ProcessStatus] {
        let me = getpid()
        guard let ourselves = ProcessStatus(of: me) else { return [] }
        var ended: Set<ProcessID> = []
        var alive: [ProcessStatus] = []
        for _ in 0..<Self.readLimit {
            let listed = children.of(me, threadCount: ourselves.threadCount).filter { !mainProcesses.contains($0) }
            alive = listed.compactMap { ProcessStatus(of: $0) }.filter { !$0.isZombie }
            // A process that ended after the list was read has left its children to this one since.
            let endedNow = Set(listed).subtracting(alive.pids)
            if ended.isSuperset(of: endedNow) { break }
            ended.formUnion(endedNow)
        }
        return alive
    }
}

extension ProcessTree {
    /// The containment of a launched tree without a cgroup.
    fileprivate var processGroup: ProcessGroupContainment? { containment as? ProcessGroupContainment }
}

/// The tree of an orphan that no control group names.
///
/// A program that becomes a daemon leaves its session, and some overwrite the environment that carries the mark. The
/// moment decides: the orphan is a child of this process from the end of its parent on.
extension ProcessTable {
    /// Gives the orphans that have just arrived to the tree whose process has ended.
    func claimArrivals(for tree: ProcessTree) {
        guard let containment = tree.processGroup else { return }
        let present = orphans.list(Children())
        let arrivals = present.filter { !knownStrangers.contains($0.identity) }
        guard !arrivals.isEmpty else { return }
        let others = trees.filter { $0.token != tree.token }
        let rivals = others.filter { $0.processGroup != nil }
        // The mark is looked at once: the program that is executed next may have none.
        let claimed = arrivals.filter { arrival in
            if containment.claims(arrival) { return true }
            let identity = arrival.identity
            return identity.isYounger(than: tree.main) && !others.contains { $0.containment.claims(arrival) }
                && (isRecent(arrival) || !rivals.contains { identity.isYounger(than: $0.main) })
        }
        let known = containment.seen
        containment.claim(claimed)
        knownStrangers = Set(present.identities).subtracting(claimed.identities)
        if !claimed.isEmpty { tree.passOnEndSignal(except: known) }
    }

    /// Returns whether a process has started within the last second: a program becomes a daemon at once.
    private func isRecent(_ process: ProcessStatus) -> Bool {
        let now = BootTime.now.ticks
        return process.startTime > now || now - process.startTime < BootTime.ticksPerSecond
    }

    /// Returns the trees without a control group that an orphan belonged to, which has been reaped. It can be of two: in the session
    /// of one app, with the mark of another.
    func trees(ofReapedOrphan pid: ProcessID) -> [ProcessTree] {
        trees.filter { $0.processGroup?.orphanWasReaped(pid) ?? false }
    }
}
