import LifecycleCore
import Systemd

/// Learns when apps are stopped and run again.
protocol SuspensionObserver: AnyObject {
    /// The app is about to be stopped. A use that is reported now resumes it.
    func willStop(_ id: AppID)
    func entered(_ state: AppState, _ id: AppID)
    /// Inputs and their effects were handled: targets may have changed.
    func inputsHandled()
}

/// Resumes suspended apps for as long as another program needs them: the display server, whose events they have to read.
///
/// Nothing here wakes the daemon periodically. A look that costs time follows in the next round of the loop, after replies were
/// sent.
final class SuspendedApps: SuspensionObserver {
    private let displays: DisplayQueues
    private var suspended: Set<AppID> = []
    private var begun: BatchQueue<AppID>?
    private var occasion: DeferredSource?

    init(loop: EventLoop, manager: AppManager, log: any JournalSink) throws(SystemdError) {
        displays = try DisplayQueues(loop: loop, processes: manager.processes, log: log) { [weak manager] in
            manager?.report(.unread, of: $0, by: $1)
        }
        begun = try BatchQueue(loop: loop) { [weak self] in self?.begin($0) }
        occasion = try loop.deferred { [weak self] in self?.look() }
        occasion?.setPriority(.idle)
        manager.suspensions = self
        // Those of a former daemon.
        for app in manager.apps { entered(app.state, app.id) }
    }

    func willStop(_ id: AppID) {}

    func entered(_ state: AppState, _ id: AppID) {
        if state == .suspended {
            suspended.insert(id)
            begun?.append(id)
        } else if suspended.remove(id) != nil {
            begun?.remove(id)
            displays.end(id)
        }
        displays.entered(state, id)
        noteOccasion()
    }

    func inputsHandled() {}

    /// Something has happened: the processor is awake, and a look costs little.
    func noteOccasion() {
        if !suspended.isEmpty { occasion?.schedule() }
    }

    private func begin(_ id: AppID) { displays.begin(id) }
    private func look() { displays.look() }
}
