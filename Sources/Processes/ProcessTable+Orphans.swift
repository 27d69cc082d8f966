import CLinux

/// Whose a process is that has become a child of this one, where there is no control group that tells.
///
/// A program that becomes a daemon leaves its session, and some overwrite the environment that carries the mark. What is left
/// is the moment: the orphan is there from the end of its parent on, which this process hears of.
extension ProcessTable {
    /// Gives the orphans that have just arrived to the tree whose process has ended.
    func claimArrivals(for tree: ProcessTree) {
        guard let containment = tree.containment.processGroup else { return }
        let present = orphans.list(Children())
        let arrivals = present.filter { !knownStrangers.contains($0.identity) }
        guard !arrivals.isEmpty else { return }
        let others = trees.filter { $0.token != tree.token }
        let rivals = others.filter { $0.containment.processGroup != nil }
        // The mark is looked at once: the program that is executed next may have none.
        let claimed = arrivals.filter { arrival in
            if containment.claims(arrival) { return true }
            return arrival.startTime >= tree.main.startTime && !others.contains { $0.containment.claims(arrival) }
                && (isRecent(arrival) || !rivals.contains { $0.main.startTime <= arrival.startTime })
        }
        containment.claim(claimed)
        knownStrangers = Set(present.identities).subtracting(claimed.identities)
    }

    /// Returns whether a process has started within the last second: a program becomes a daemon at once.
    private func isRecent(_ process: ProcessStatus) -> Bool {
        BootTime.now.ticks < process.startTime + BootTime.ticksPerSecond
    }

    /// Returns the tree without a control group that an orphan belonged to, which has been reaped.
    func tree(ofReapedOrphan pid: ProcessID) -> ProcessTree? {
        trees.first { $0.containment.processGroup?.orphanWasReaped(pid) ?? false }
    }
}
