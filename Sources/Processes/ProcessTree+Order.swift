import CLinux

/// Signals in the order of descent. A parent that runs while its child is stopped may take it for a job that was stopped by
/// hand: a shell then takes the terminal from it. So parents are stopped before their children, and continued after them.
extension ProcessTree {
    /// For how long one call waits for parents to stop: a process that sleeps takes some ten microseconds.
    private static func patienceOfOneCall(levels: Int) -> Duration { .microseconds(min(300 + 40 * levels, 10_000)) }
    /// For how long children run on because a parent of theirs has not stopped.
    private static let patience = Duration.milliseconds(100)

    /// Stops parents level by level, and then whatever else is to be stopped. Where a parent takes its time, the rest has to
    /// wait for the next check.
    ///
    /// - Parameters:
    ///   - processes: What may run.
    ///   - began: When the stop was begun.
    ///   - stopAll: Sends SIGSTOP to all of them at once.
    func stopTopDown(
        _ processes: [ProcessStatus], since began: BootTime, _ stopAll: () -> [SignalFailure]
    ) {
        let levels = DescentOrder(processes).levelsOfParents
        let deadline = min(BootTime.now + Self.patienceOfOneCall(levels: levels.count), began + Self.patience)
        for level in levels {
            let failures = signal(.stop, only: level)
            refused += failures
            let haveStopped = waitUntilStopped(
                level.filter { each in !failures.contains { $0.process == each } }, deadline)
            if !haveStopped && BootTime.now < began + Self.patience { return }
        }
        refused += stopAll()
    }

    private func waitUntilStopped(_ processes: [ProcessIdentity], _ deadline: BootTime) -> Bool {
        var running = processes[...]
        while true {
            running = running.drop { process in
                guard let status = ProcessStatus(of: process.pid), status.identity == process else { return true }
                return !status.mayWaitForChildren
            }
            if running.isEmpty { return true }
            guard BootTime.now < deadline else { return false }
            sched_yield()
        }
    }

    /// Continues every process: first those that have no children in the tree, and then their parents.
    @discardableResult
    func resumeBottomUp(_ parents: [[ProcessIdentity]]) -> [SignalFailure] {
        let last = Set(parents.joined())
        let failures = last.isEmpty ? signalAll(.resume) : signalAll(.resume, except: last)
        return failures + parents.reversed().flatMap { signal(.resume, only: $0) }
    }

    /// Whether a process may stop itself soon because its child had been stopped, as script(1) and sudo(8) do.
    public var mayMirror: Bool { wish == .running && !mirrors.isEmpty }

    /// Continues parents once more that have stopped since the tree was continued.
    ///
    /// - Returns: Whether there were any.
    public func resumeMirrors() -> Bool {
        guard mayMirror else { return false }
        let statuses = mirrors.compactMap { mirror in
            ProcessStatus(of: mirror.pid).flatMap { $0.identity == mirror ? $0 : nil }
        }
        mirrors = Set(statuses.identities)
        let stopped = DescentOrder(statuses.filter { $0.state == .stopped }).bottomUp
        signal(.resume, only: stopped.identities)
        return !stopped.isEmpty
    }
}
