import AppChannel
import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The parts that deal with apps, and what follows an input.
final class AppManager {
    let catalog: AppCatalog
    let driver: CoreDriver
    let store: StateLog
    let processes: AppProcesses
    let channels: AppChannels
    let memory: MemoryWatch
    let resources: StateResources
    let exits: ExitHistory
    let log: LifecycleLog
    let uses: UseReports
    let interruptions: Interruptions
    let suspensions: SuspendedApps
    /// Nil in the system instance.
    let desktop: DesktopSession?

    let loop: EventLoop
    let launcher: AppLauncher
    let trimmer: MemoryTrimmer
    let history = History()
    let performer: Performer
    var announcer: Announcer
    var isRestoring = false
    /// The replies that are not sent.
    var replies: [Ready.Answer] = []

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
        uses = UseReports(driver: driver)
        interruptions = Interruptions(driver: driver, store: store)
        let bus = launcher.isSystem ? nil : SessionBus(loop: loop, log: log)
        suspensions = try SuspendedApps(
            loop: loop, driver: driver, processes: processes, uses: uses, log: log, sessionBus: bus)
        desktop =
            if let bus {
                try DesktopSession(
                    bus: bus, loop: loop, driver: driver, catalog: catalog, processes: processes, uses: uses, log: log)
            } else {
                nil
            }
        channels = AppChannels(
            events: events, log: self.log, core: driver, catalog: catalog, processes: processes, store: store)
        memory = try MemoryWatch(events: events, log: log, core: driver)
        resources = try StateResources(events: events, log: log, processes: processes, core: driver, store: store)
        trimmer = try MemoryTrimmer(events: events, log: self.log, processes: processes, core: driver)
        performer = Performer(
            driver: driver, store: store, catalog: catalog, processes: processes, channels: channels,
            launcher: launcher, exits: exits, resources: resources, memory: memory, trimmer: trimmer,
            suspensions: suspensions)
        announcer = Announcer(
            driver: driver, store: store, catalog: catalog, processes: processes, resources: resources,
            memory: memory, trimmer: trimmer, suspensions: suspensions, desktop: desktop,
            interruptions: interruptions, history: history, log: self.log)
    }

    var core: Engine { driver.core }

    // MARK: Inputs

    /// Handles what has happened, and performs what the core makes of it. Replies and announcements follow at the end of the turn.
    func handleInputs(overdue: [Input] = []) {
        driver.handleInputs(overdue: overdue) { perform($0) }
        channels.confirm()
        processes.confirmNews()
    }

    private func perform(_ ready: Ready) {
        announcer.keep(ready.announcements)
        replies += ready.replies
        performer.perform(ready, isRestoring: isRestoring)
        guard ready.isFinished else { return }
        exits.ended.write()
        loop.exit(code: 0)
    }

    /// Takes the replies that are to be sent.
    func takeReplies() -> [Ready.Answer] {
        defer { replies = [] }
        return replies
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
        performer.removeOutput(of: launcher.appsWithOutput)
        driver.append(.start)
    }

    /// Lets the work begin that waits for the first answer.
    func beginIdleWork() {
        processes.beginIdleWork()
        resources.beginIdleWork()
        suspensions.beginIdleWork()
    }

    /// Removes what is left of the control groups. Called when all apps have ended.
    func leave() {
        processes.table.terminateHelpers()
        processes.table.removeDiscardedGroups()
        processes.cgroups?.leave()
    }
}
