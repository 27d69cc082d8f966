import LifecycleCore
import Processes
import Systemd

/// Reclaims the memory of suspended apps in small steps, while the loop is idle.
final class MemoryTrimmer {
    private let log: any JournalSink
    private let processes: AppProcesses
    private let core: CoreDriver
    private var waiting: [AppIndex: MemoryReclaim] = [:]
    private let idle: LaterSource
    private var hasReported = false

    init(core: CoreDriver, processes: AppProcesses, log: any JournalSink) throws(SystemdError) {
        self.core = core
        self.processes = processes
        self.log = log
        idle = try core.events.later(.trimmingDue, .idle)
    }

    func begin(_ app: AppIndex) {
        guard let tree = processes.tree(of: app) else { return }
        do throws(FeatureUnavailable) {
            waiting[app] = try MemoryReclaim(tree)
            idle.schedule()
        } catch {
            guard !hasReported else { return }
            hasReported = true
            log.write(.notice, "cannot reclaim the memory of suspended apps: \(error); leaving it to them")
        }
    }

    /// Ends with an app that is resumed or ends. The rest of its memory stays.
    func end(_ app: AppIndex) {
        if !waiting.isEmpty { waiting[app] = nil }
    }

    /// Reclaims some memory of the app that comes first.
    func step() {
        guard let app = waiting.keys.min(by: { $0.value < $1.value }), var work = waiting.removeValue(forKey: app)
        else { return }
        switch work.step() {
        case .more: waiting[app] = work
        case .done(let outcome): log.write(outcome, by: work.method, of: core.id(of: app))
        }
        if !waiting.isEmpty { idle.schedule() }
    }
}
