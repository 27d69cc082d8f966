import AppChannel
import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Performs the core's effects on the apps: their processes, channels, memory and resources.
final class AppManager {
    let catalog: AppCatalog
    let driver: CoreDriver
    let store: StateLog
    let processes: AppProcesses
    let channels: AppChannels
    let unmanaged: UnmanagedApps
    let memory: MemoryWatch
    let resources: StateResources
    let exits: ExitHistory
    let log: LifecycleLog
    weak var suspensions: SuspendedApps?
    weak var desktop: DesktopSession?

    let loop: EventLoop
    let launcher: AppLauncher
    let trimmer: MemoryTrimmer
    var history = History()
    /// Processes held until their app is launched.
    var candidates: [AppID: AdoptionCandidate] = [:]
    var isRestoring = false
    /// The transitions that are performed and not announced, each with the index and the main process of its app.
    var announcements: [(Announcement, AppIndex?, ProcessID?)] = []
    /// The decisions that are not announced.
    var decisions: [DecisionReport] = []
    /// The replies that are not sent.
    var replies: [(RequestID, Reply)] = []
    /// The apps that processes have joined that ran before.
    var adoptions: [AppID] = []
    /// The announced transitions whose entries wait to be written.
    var unwritten: [Announcement] = []
    private var uses = UseReports()
    /// Saved when the inputs are handled that have led to it.
    var session = FollowedLoginSession()
    private var savedSession = FollowedLoginSession()
    var boundInterruptions = BoundInterruptions() {
        didSet {
            if boundInterruptions != oldValue { store.save(.bound, boundInterruptions.saved) }
        }
    }
    /// The daemon's own requests, numbered from the other end than those of clients.
    var ownRequests: [RequestID: () -> Void] = [:]
    private var ownRequestCount: UInt64 = 0

    init(
        events: Events, launcher: AppLauncher, store: StateLog, entries: DesktopEntries?, log: any JournalSink
    ) throws(SystemdError) {
        loop = events.loop
        self.launcher = launcher
        self.store = store
        self.log = LifecycleLog(sink: log)
        let directory = AppRecords.Directory(
            path: launcher.stateDirectory, isSystem: launcher.isSystem, log: log)
        driver = try CoreDriver(events: events, store: store)
        exits = ExitHistory(store: store, directory: directory)
        catalog = AppCatalog(
            entries: entries, accounts: launcher.accounts, driver: driver, exits: exits, store: store, log: log)
        processes = try AppProcesses(events: events, core: driver, store: store, log: log)
        unmanaged = UnmanagedApps(events: events)
        channels = AppChannels(events: events, log: self.log, core: driver, store: store)
        memory = try MemoryWatch(events: events, log: log, core: driver)
        resources = try StateResources(events: events, log: log, processes: processes, core: driver, store: store)
        trimmer = try MemoryTrimmer(events: events, log: self.log, processes: processes, core: driver)
    }

    var core: Engine { driver.core }

    /// Returns the indexes of those of the apps that are known.
    func indexes(of ids: some Sequence<AppID>) -> Set<AppIndex> { Set(ids.compactMap { driver.index(of: $0) }) }

    /// Returns the ids of those of the apps that are known.
    func ids(of apps: some Sequence<AppIndex>) -> Set<AppID> { Set(apps.compactMap { driver.app($0)?.id }) }

    // MARK: Inputs

    /// Handles what has happened, and performs what the core makes of it. Replies and announcements follow at the end of the turn.
    func handleInputs(overdue: [Input] = []) {
        driver.handleInputs(overdue: overdue) { perform($0) }
        channels.confirm()
        processes.confirmNews()
        guard session != savedSession else { return }
        savedSession = session
        store.save(.session, session.saved)
    }

    /// Applies the settings to everything but the core.
    func apply(_ settings: DaemonSettings) {
        processes.table.setHelpers(settings.helpers)
        processes.stopTimeout = settings.timeouts.suspension
        memory.apply(settings.memory)
        resources.apply(settings.resources, processes: ProcessLimit(settings.limits.processes))
    }

    /// Sets the parent of the apps' control groups. Called before the first launch.
    func setCgroups(_ cgroups: CgroupSubtree?) {
        processes.cgroups = cgroups
        resources.begin(with: cgroups)
    }

    func start() {
        // A daemon that was killed may have left some.
        removeOutput(of: launcher.appsWithOutput)
        driver.append(.start)
    }

    /// Lets the work begin that waits for the first answer.
    func beginIdleWork() {
        processes.beginIdleWork()
        resources.beginIdleWork()
        suspensions?.beginIdleWork()
    }

    func shutDown() {
        driver.append(.shutDown)
    }

    /// Removes what is left of the control groups. Called when all apps have ended.
    func leave() {
        processes.table.terminateHelpers()
        processes.table.removeDiscardedGroups()
        processes.cgroups?.leave()
    }

    func request(_ id: RequestID, _ request: Request) { driver.append(.request(id, request)) }

    /// Replaces the apps that a client or a part of the daemon has reported for a use. An app is used while one of them reports it.
    func report(_ use: Use, of ids: Set<AppID>, by reporter: AnyObject) {
        uses.set(use, to: ids, by: reporter)
        driver.append(.setUses(use, uses.apps(use)))
        if use == .visible { desktop?.visibleAppsChanged() }
    }

    /// Returns whether a client reports the use, of any number of apps.
    func isReported(_ use: Use) -> Bool { uses.isReported(use) }

    /// Returns the apps that clients and parts of the daemon report for a use.
    func reportedApps(_ use: Use) -> Set<AppID> { uses.apps(use) }

    /// Ends all reports of a client.
    func endReports(by reporter: AnyObject) {
        let ended = uses.remove(reporter)
        for use in ended { driver.append(.setUses(use, uses.apps(use))) }
        if ended.contains(.visible) { desktop?.visibleAppsChanged() }
    }

    // MARK: Interruptions

    /// Ends the interruptions whose clients are gone.
    func endAbandonedInterruptions() {
        for name in boundInterruptions.abandoned { request(.endInterruption(name, answer: nil)) }
    }

    /// Forgets the clients of interruptions that have ended, before another client begins one of the same name.
    func forgetEndedInterruptions() {
        if !boundInterruptions.isEmpty { boundInterruptions.removeAll(except: core.interruptions) }
    }

    /// Tells the core of an event of the machine.
    ///
    /// - Parameter done: Called when the apps have done what follows from it.
    func handle(_ event: MachineEvent, done: @escaping () -> Void = {}) { request(.machine(event), done: done) }

    /// Makes a request of the daemon's own.
    ///
    /// - Parameter done: Called when it is answered.
    func request(_ request: Request, done: @escaping () -> Void = {}) {
        ownRequestCount += 1
        let id = RequestID(UInt64.max - ownRequestCount)
        ownRequests[id] = done
        driver.append(.request(id, request))
    }
}
