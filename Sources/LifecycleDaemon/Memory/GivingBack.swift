import LifecycleCore
import Processes
import Systemd

/// Gives the memory of apps back to the machine while they are suspended, one small step at a time and only when the
/// loop has nothing else to do.
final class GivingBack {
    private let log: LifecycleLog
    private let processes: AppProcesses
    private var waiting: [AppID: MemoryReclaim] = [:]
    private var idle: DeferredSource?
    private var hasReported = false

    init(loop: EventLoop, log: LifecycleLog, processes: AppProcesses) throws(SystemdError) {
        self.log = log
        self.processes = processes
        idle = try loop.deferred { [weak self] in self?.step() }
        idle?.setPriority(.idle)
    }

    /// Begins with an app that has been suspended.
    func begin(_ id: AppID) {
        guard let tree = processes.tree(of: id) else { return }
        do throws(FeatureUnavailable) {
            waiting[id] = try MemoryReclaim(tree)
            idle?.schedule()
        } catch {
            guard !hasReported else { return }
            hasReported = true
            log.log.write(
                LogEntry(priority: .notice, message: "the memory of suspended apps is not given back: \(error)"))
        }
    }

    /// The app is wanted, or is being ended: what has not been given back stays.
    func end(_ id: AppID) { waiting[id] = nil }

    private func step() {
        guard let id = waiting.keys.min(), var work = waiting.removeValue(forKey: id) else { return }
        switch work.step() {
        case .more: waiting[id] = work
        case .done(let outcome): log.write(outcome, by: work.method, of: id)
        }
        if !waiting.isEmpty { idle?.schedule() }
    }
}
