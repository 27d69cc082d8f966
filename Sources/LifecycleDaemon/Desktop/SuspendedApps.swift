import LifecycleCore
import Processes
import Systemd

/// Learns when apps are stopped and run again.
protocol SuspensionObserver: AnyObject {
    /// The app is about to be stopped. A use that is reported now resumes it.
    func willStop(_ id: AppID)
    func entered(_ state: AppState, _ id: AppID)
    /// Lets the work begin that waits for the first answer.
    func beginPostponedWork()
    /// Returns the programs that use the app in this way, if they are known.
    func users(_ use: Use, of id: AppID) -> [String]
    /// Something has happened: the processor is awake, and a look costs little.
    func noteOccasion()
    /// Inputs and their effects were handled: targets may have changed.
    func inputsHandled()
}

/// Resumes suspended apps for as long as another program needs them: the display server, whose events they have to read,
/// callers on the session bus, and processes that wait for a file lock.
///
/// Nothing here wakes the daemon periodically. A look that costs time follows in the next round of the loop, after replies were
/// sent.
final class SuspendedApps: SuspensionObserver {
    private let manager: AppManager
    private let displays: DisplayQueues
    private let calls: BusCalls
    private let locks: FileLocks
    private var suspended: Set<AppID> = []
    private var background: Set<AppID> = []
    /// The apps in the background that are suspended when their background time expires.
    private var leaving: Set<AppID> = []
    private var begun: BatchQueue<AppID>?
    private var occasion: DeferredSource?

    init(
        loop: EventLoop, manager: AppManager, log: any JournalSink, sessionBus: @escaping () -> Bus?
    ) throws(SystemdError) {
        self.manager = manager
        displays = try DisplayQueues(loop: loop, processes: manager.processes, log: log) { [weak manager] in
            manager?.report(.unread, of: $0, by: $1)
        }
        calls = try BusCalls(loop: loop, processes: manager.processes, log: log, makeBus: sessionBus) {
            [weak manager] in
            manager?.report(.called, of: $0, by: $1)
        }
        locks = try FileLocks(loop: loop, processes: manager.processes) { [weak manager] pid in
            guard let manager, case .app(let id) = manager.processes.owner(of: pid) else { return false }
            return manager.app(id)?.isStoppedOrStopping ?? false
        } report: { [weak manager] in
            manager?.report(.awaited, of: $0, by: $1)
        }
        begun = try BatchQueue(loop: loop, isHeld: true) { [weak self] in self?.begin($0) }
        occasion = try loop.deferred(priority: .idle) { [weak self] in self?.look() }
        calls.source = self
        manager.suspensions = self
        // Those of a former daemon.
        for app in manager.apps { entered(app.state, app.id) }
        inputsHandled()
    }

    func willStop(_ id: AppID) { calls.willStop(id) }
    func beginPostponedWork() { begun?.begin() }

    func users(_ use: Use, of id: AppID) -> [String] {
        switch use {
        case .called: calls.callers(of: id)
        case .awaited: locks.waiters(of: id)
        case .visible, .pointed, .playing, .unread, .relaunched, .unfollowed: []
        }
    }

    func entered(_ state: AppState, _ id: AppID) {
        if state == .background { background.insert(id) } else { background.remove(id) }
        let wasMonitored = leaving.remove(id) != nil || suspended.contains(id)
        if wasMonitored != (state == .suspended) { calls.monitoredAppsChanged() }
        if state == .suspended {
            suspended.insert(id)
            begun?.append(id)
        } else if suspended.remove(id) != nil {
            begun?.remove(id)
            displays.end(id)
            locks.end(id)
        }
        displays.entered(state, id)
        if state == .notRunning { locks.ended(id) }
        noteOccasion()
    }

    func inputsHandled() {
        guard !background.isEmpty || !leaving.isEmpty else { return }
        let now = background.filter { manager.app($0)?.target == .suspended }
        guard now != leaving else { return }
        leaving = now
        calls.monitoredAppsChanged()
    }

    func noteOccasion() {
        if !suspended.isEmpty { occasion?.schedule() }
    }

    private func begin(_ id: AppID) {
        let processes = manager.processes.tree(of: id)?.processIDs ?? []
        let openFiles = processes.flatMap { OpenFile.all(of: $0) }
        displays.begin(id, openFiles)
        locks.begin(id, openFiles)
    }

    private func look() {
        displays.look()
        locks.look()
    }
}

extension SuspendedApps: BusCalls.Source {
    var monitoredApps: Set<AppID> { suspended.union(leaving) }
    func isStopped(_ id: AppID) -> Bool { manager.app(id)?.isStoppedOrStopping ?? false }

    func hasUnreadMessages(_ id: AppID, busPath: String) -> Bool {
        let path = Array(busPath.utf8)
        let sockets = (try? UnixSocket.all()) ?? []
        let clients = Set(sockets.filter { $0.unread > 0 && $0.address == path }.map(\.peer))
        guard !clients.isEmpty, let tree = manager.processes.tree(of: id) else { return false }
        return tree.processIDs.contains { pid in
            OpenFile.all(of: pid).contains { $0.socket.map(clients.contains) ?? false }
        }
    }
}
