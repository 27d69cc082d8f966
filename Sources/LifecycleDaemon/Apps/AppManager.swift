import AppChannel
import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Performs the core's effects on the apps: their processes, channels, memory and resources.
final class AppManager {
    var catalog = AppCatalog()
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
    private(set) var trimsWhenSuspended = false
    /// The desktop entries that can be launched without a manifest; nil in the system instance.
    private(set) var entries: DesktopEntries?
    var history = History()
    private(set) var defaults = Policy()
    private(set) var defaultApps: [String: String] = [:]
    private(set) var adoptRules: [AdoptRule] = []
    /// Processes held until their app is launched.
    var candidates: [AppIndex: AdoptionCandidate] = [:]
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
    /// The core's settings as they are configured.
    private var settings = Settings()
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
        self.entries = entries
        self.log = LifecycleLog(sink: log)
        let directory = AppRecords.Directory(
            path: launcher.stateDirectory, isSystem: launcher.isSystem, log: log)
        driver = try CoreDriver(events: events, store: store)
        exits = ExitHistory(store: store, directory: directory)
        processes = try AppProcesses(events: events, core: driver, store: store, log: log)
        unmanaged = UnmanagedApps(events: events)
        channels = AppChannels(events: events, log: self.log, core: driver, store: store)
        memory = try MemoryWatch(events: events, log: log, core: driver)
        resources = try StateResources(events: events, log: log, processes: processes, core: driver, store: store)
        trimmer = try MemoryTrimmer(events: events, log: self.log, processes: processes, core: driver)
    }

    var core: Engine { driver.core }

    // MARK: Apps

    func app(_ id: AppID) -> AppMachine? { driver.core.knownApps[id] }
    func app(_ app: AppIndex) -> AppMachine? { driver.app(app) }

    /// Returns the index of an app that is known, or is about to be forgotten.
    func index(of id: AppID) -> AppIndex? { driver.index(of: id) }

    /// Returns the indexes of those of the apps that are known.
    func indexes(of ids: some Sequence<AppID>) -> Set<AppIndex> { Set(ids.compactMap { index(of: $0) }) }

    /// Returns the ids of those of the apps that are known.
    func ids(of apps: some Sequence<AppIndex>) -> Set<AppID> { Set(apps.compactMap { app($0)?.id }) }

    /// All apps by id.
    var apps: [AppMachine] { driver.core.knownApps.valuesByID }
    var appIDs: some Sequence<AppID> { driver.core.knownApps.keys }
    func isKnown(_ id: AppID) -> Bool { app(id) != nil }
    func isRunning(_ id: AppID) -> Bool { app(id)?.isRunning ?? false }

    /// Returns whether a manifest or a command describes the app, or it runs.
    func isDescribed(_ id: AppID) -> Bool {
        guard isKnown(id) else { return false }
        return isRunning(id) || catalog[id]?.isFromEntry != true
    }

    func name(of id: AppID) -> String? { catalog.name(of: id) }

    /// Returns whether an app that has ended can be launched by its id.
    func canLaunchAgain(_ id: AppID) -> Bool {
        isDescribed(id) || entry(of: id) != nil
    }

    /// Returns the desktop entry of an app; nil if there is none that can be launched, or it cannot be read for now.
    func entry(of id: AppID) -> DesktopEntry? {
        if case .entry(let entry)? = try? entries?.find(id.name) { entry } else { nil }
    }

    /// Launches an app to the foreground for the user, without a client.
    func launchAgain(_ id: AppID) {
        guard !catalog.isOccupied(id) else { return }
        if !isDescribed(id) {
            guard let entry = entry(of: id) else { return }
            define(id, entry)
        }
        request(.launch(id, background: false))
    }

    /// Makes an app known. No other app has the id.
    func define(_ id: AppID, _ definition: AppDefinition) {
        if exits.ended[id]?.user != definition.user.number { history.noteNewOwner(of: id, at: driver.now) }
        insert(definition, as: id)
        driver.append(.define(id, definition.policy))
        handleInputs()
    }

    /// Adds a definition, and saves it.
    func insert(_ definition: AppDefinition, as id: AppID) {
        var definition = definition
        let record = definition.saved(id)
        definition.savedSize = definition.isAdHoc ? record.bytes.count : 0
        catalog.insert(definition, as: id)
        store.save(.definition, record, of: id)
    }

    /// Returns the bytes in the saved state of the programs that clients run as a user.
    func savedSize(of user: UInt32) -> Int { catalog.savedSize { number(of: $0) == user } }

    /// Makes an app of a desktop entry known, as the entry is now.
    func define(_ id: AppID, _ entry: DesktopEntry) {
        for problem in entry.problems { log.sink.write(LogEntry(problem)) }
        define(id, definition(of: entry))
        recallExit(of: id)
    }

    /// Saves what a manifest or a desktop entry says about an app that runs: neither may be there at the next start.
    func saveDescription(of id: AppID, _ definition: AppDefinition) {
        if !definition.isAdHoc || definition.model != nil { store.save(.definition, definition.saved(id), of: id) }
    }

    func definition(of entry: DesktopEntry) -> AppDefinition { AppDefinition(entry: entry, defaults: defaults) }

    private func recallExit(of id: AppID) {
        if let app = index(of: id), let exit = exits.last.recall(id, app) { driver.append(.remember(id, exit)) }
    }

    /// Tells the core of every app that is described, and of its exit in an earlier boot.
    func defineAll(except gone: Set<AppID> = []) {
        let described = catalog.definitions.filter { !gone.contains($0.key) }
        // Most of a configuration that is read again says nothing new.
        for (id, definition) in described where !driver.isRunning(id, with: definition.policy) {
            driver.append(.define(id, definition.policy))
        }
        handleInputs()
        exits.last.withList { for (id, _) in described { recallExit(of: id) } }
        handleInputs()
    }

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

    /// Applies a configuration. Running apps stay as they are.
    func apply(_ configuration: LoadedConfiguration) {
        let before = catalog
        let (settings, gone) = prepare(configuration)
        for (id, definition) in catalog.definitions where isRunning(id) && before[id] != definition {
            saveDescription(of: id, definition)
        }
        defineAll(except: gone)
        for id in gone.sorted() { driver.append(.forget(id)) }
        driver.append(.configure(settings))
        handleInputs()
    }

    /// Applies a configuration to everything but the core.
    ///
    /// - Returns: The core's settings, and the apps that nothing describes any more.
    func prepare(_ configuration: LoadedConfiguration) -> (Settings, gone: Set<AppID>) {
        let all = configuration.settings
        let settings = Settings(all)
        defaults.timeouts = settings.timeouts
        defaults.onExit = all.onExit
        defaults.assertionLimit = all.limits.tasks
        defaultApps = all.defaults
        entries?.terminal = all.terminal
        adoptRules = all.adopt
        processes.table.setHelpers(all.helpers)
        processes.stopTimeout = all.timeouts.suspension
        memory.apply(all.memory)
        resources.apply(all.resources, processes: ProcessLimit(all.limits.processes))
        trimsWhenSuspended = all.memory.reclaimWhenSuspended
        let defaults = defaults
        launcher.accounts.update(catalog.userNames.union(configuration.manifests.compactMap(\.user)))
        let gone = catalog.apply(configuration.manifests, defaults: defaults, haveSameUser: haveSameUser) { id in
            entry(of: id).map { AppDefinition(entry: $0, defaults: defaults) }
        }
        for id in catalog.occupiedIDs.sorted() {
            log.sink.write(
                .warning,
                "cannot use the manifest of \(id): a program of another user has this id; using it when that has ended")
        }
        self.settings = settings
        return (usableSettings, gone)
    }

    /// The settings, without a home app whose id a program of another user has.
    var usableSettings: Settings {
        var usable = settings
        if let home = usable.homeApp, catalog.isOccupied(home) { usable.homeApp = nil }
        return usable
    }

    /// Looks up the users that the definitions name.
    func lookUpUsers() { launcher.accounts.update(catalog.userNames) }

    /// Returns the number of a user; nil if the account cannot be looked up.
    func number(of user: AppDefinition.User) -> UInt32? {
        switch user {
        case .daemon: geteuid()
        case .numbered(let number): number
        case .named(let name): try? launcher.accounts.account(of: name).userID
        }
    }

    /// Returns whether two definitions have the same user. One whose account cannot be looked up is nobody's.
    func haveSameUser(_ one: AppDefinition, _ other: AppDefinition) -> Bool {
        number(of: one.user).map { $0 == number(of: other.user) } ?? false
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
