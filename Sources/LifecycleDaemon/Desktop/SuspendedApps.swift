import LifecycleCore
import Processes
import Systemd

/// Resumes suspended apps for as long as another program needs them: the display server, whose events they have to read,
/// callers on the session bus, and processes that wait for a file lock.
///
/// Nothing here wakes the daemon periodically. A look that costs time follows after a pause, when replies were sent.
final class SuspendedApps {
    private let driver: CoreDriver
    private let processes: AppProcesses
    private let displays: DisplayQueues
    private let calls: BusCalls
    private let locks: FileLocks
    private var suspended: Set<AppIndex> = []
    private var background: Set<AppIndex> = []
    /// Those of them that are suspended when their background time expires.
    private var leaving: Set<AppIndex> = []
    private let scans: FileScans
    private let nextLook: IdleSource

    /// - Parameter sessionBus: Nil in the system instance.
    init(
        loop: EventLoop, driver: CoreDriver, processes: AppProcesses, uses: UseReports, log: any JournalSink,
        sessionBus: SessionBus?
    ) throws(SystemdError) {
        self.driver = driver
        self.processes = processes
        displays = try DisplayQueues(loop: loop, core: driver, log: log) {
            uses.report(.unread, of: driver.ids(of: $0), by: $1)
        }
        calls = try BusCalls(loop: loop, processes: processes, log: log) {
            sessionBus?.connect()
        } report: {
            uses.report(.called, of: driver.ids(of: $0), by: $1)
        }
        locks = try FileLocks(loop: loop, processes: processes, log: log) { pid in
            guard case .app(let id) = processes.owner(of: pid) else { return false }
            return driver.app(id)?.isStoppedOrStopping ?? false
        } report: {
            uses.report(.awaited, of: driver.ids(of: $0), by: $1)
        }
        let owner = Owner<SuspendedApps>()
        scans = try FileScans(loop: loop) {
            processes.tree(of: $0)?.processIDs ?? []
        } finished: {
            owner.object?.begin($0, $1)
        }
        nextLook = try loop.idle { owner.object?.look() }
        owner.object = self
        calls.source = self
    }

    /// Handles an app that is about to be stopped. A use that is reported now resumes it.
    func willStop(_ app: AppIndex) { calls.willStop(app) }
    /// Lets the work begin that waits for the first answer.
    func beginIdleWork() { scans.begin() }

    /// Returns the programs that use the app in this way, if they are known.
    func users(_ use: Use, of app: AppIndex) -> [String] {
        switch use {
        case .called: calls.callers(of: app)
        case .awaited: locks.waiters(of: app)
        case .visible, .pointed, .playing, .unread, .relaunched, .unfollowed: []
        }
    }

    func entered(_ state: AppState, _ app: AppIndex) {
        if state == .background { background.insert(app) } else { background.remove(app) }
        let wasMonitored = leaving.remove(app) != nil || suspended.contains(app)
        if wasMonitored != (state == .suspended) { calls.monitoredAppsChanged() }
        if state == .suspended {
            suspended.insert(app)
            scans.append(app)
        } else if suspended.remove(app) != nil {
            scans.remove(app)
            displays.end(app)
            locks.end(app)
        }
        displays.entered(state, app)
        if state == .notRunning { locks.ended(app) }
        noteOccasion()
    }

    /// Inputs and their effects were handled: targets may have changed.
    func inputsHandled() {
        var hasChanged = false
        for app in background {
            let isLeaving = driver.app(app)?.target == .suspended
            guard isLeaving != leaving.contains(app) else { continue }
            if isLeaving { leaving.insert(app) } else { leaving.remove(app) }
            hasChanged = true
        }
        if hasChanged { calls.monitoredAppsChanged() }
    }

    /// Notes that the daemon has work: the processor is awake, and a look costs little.
    func noteOccasion() {
        if !suspended.isEmpty { nextLook.schedule() }
    }

    private func begin(_ app: AppIndex, _ files: FileScans.Found) {
        displays.begin(app, files.sockets)
        locks.begin(app, files.locks)
    }

    private func look() {
        displays.look()
        locks.look()
    }
}

extension SuspendedApps: BusCalls.Source {
    var monitoredApps: Set<AppIndex> { leaving.union(suspended) }

    var hasMonitoredApps: Bool { !leaving.isEmpty || !suspended.isEmpty }

    func isStopped(_ app: AppIndex) -> Bool { driver.app(app)?.isStoppedOrStopping ?? false }

    func hasUnreadMessages(_ app: AppIndex, busPath: String) -> Bool {
        let path = Array(busPath.utf8)
        let sockets = (try? UnixSocket.all()) ?? []
        let clients = Set(sockets.filter { $0.unread > 0 && $0.address == path }.map(\.peer))
        guard !clients.isEmpty, let tree = processes.tree(of: app) else { return false }
        return OpenFile.all(of: tree.processIDs).contains { $0.socket.map(clients.contains) ?? false }
    }
}
