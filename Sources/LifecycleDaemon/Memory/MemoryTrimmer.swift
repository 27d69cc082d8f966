import LifecycleCore
import Processes
import Systemd

/// Reclaims the memory of suspended apps in small steps, while the loop is idle.
final class MemoryTrimmer {
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

    func begin(_ id: AppID) {
        guard let tree = processes.tree(of: id) else { return }
        do throws(FeatureUnavailable) {
            waiting[id] = try MemoryReclaim(tree)
            idle?.schedule()
        } catch {
            guard !hasReported else { return }
            hasReported = true
            log.log.write(.notice, "cannot reclaim the memory of suspended apps: \(error); leaving it to them")
        }
    }

    /// Ends with an app that is resumed or ends. The rest of its memory stays.
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
