import Configuration
import LifecycleCore
import Processes
import Systemd

/// The parts of the daemon that deal with apps. None knows one that is made after it, but for some of the desktop.
struct DaemonParts {
    let driver: CoreDriver
    let exits: ExitHistory
    let catalog: AppCatalog
    let processes: AppProcesses
    let channels: AppChannels
    let memory: MemoryWatch
    let resources: StateResources
    let trimmer: MemoryTrimmer
    let uses: UseReports
    let interruptions: Interruptions
    let suspensions: SuspendedApps
    /// Nil in the system instance.
    let desktop: DesktopSession?
    let history = History()
    let launcher: AppLauncher
    let log: any JournalSink

    init(
        events: Events, launcher: AppLauncher, store: StateLog, table: ProcessTable, entries: DesktopEntries?,
        log: any JournalSink
    ) throws(SystemdError) {
        self.launcher = launcher
        self.log = log
        driver = try CoreDriver(events: events, store: store)
        exits = ExitHistory(
            store: store,
            directory: AppRecords.Directory(path: launcher.stateDirectory, isSystem: launcher.isSystem, log: log))
        catalog = AppCatalog(entries: entries, accounts: launcher.accounts, driver: driver, exits: exits, log: log)
        processes = try AppProcesses(core: driver, table: table, log: log)
        channels = AppChannels(core: driver, catalog: catalog, processes: processes, log: log)
        memory = try MemoryWatch(core: driver, log: log)
        resources = try StateResources(core: driver, processes: processes, log: log)
        trimmer = try MemoryTrimmer(core: driver, processes: processes, log: log)
        uses = UseReports(driver: driver)
        interruptions = Interruptions(driver: driver)
        let bus = launcher.isSystem ? nil : SessionBus(loop: events.loop, log: log)
        suspensions = try SuspendedApps(
            loop: events.loop, driver: driver, processes: processes, uses: uses, log: log, sessionBus: bus)
        desktop =
            if let bus {
                try DesktopSession(
                    bus: bus, loop: events.loop, driver: driver, catalog: catalog, processes: processes, uses: uses,
                    log: log)
            } else {
                nil
            }
    }

    /// What clients are shown.
    var presentation: Presentation {
        let rights = ClientRights(driver: driver, catalog: catalog, processes: processes, exits: exits)
        return Presentation(
            driver: driver, catalog: catalog, processes: processes, exits: exits, rights: rights,
            suspensions: suspensions, outputLocation: launcher.outputLocation)
    }

    /// Lets the work begin that waits for the first answer.
    func beginIdleWork() {
        processes.beginIdleWork()
        resources.beginIdleWork()
        suspensions.beginIdleWork()
    }
}
