import Configuration
import Glibc
import LifecycleCore
import OrderedCollections
import Processes
import Systemd

/// Spawns, stops, resumes and ends the processes of the apps, and reports the outcomes to the core's inbox.
final class AppProcesses {
    let table: ProcessTable
    /// The time in which a tree must stop before the daemon reports it.
    private(set) var stopTimeout = Duration.seconds(1)

    let core: CoreDriver
    let log: any JournalSink
    private(set) var running: OrderedDictionary<AppIndex, RunningApp> = [:]
    /// Apps of the previous daemon that are restored when something needs their processes, or the loop has time.
    private var seen: [AppIndex: SeenApp] = [:]
    private var lastPIDs: [AppIndex: ProcessID] = [:]
    /// The trees whose keepers have told something that is not saved.
    var unconfirmed: [ProcessTree] = []
    /// The control groups of the apps.
    let changes: WatchSet
    /// The main processes that are no children.
    let mains: WatchSet
    private let childSignal: SignalSource
    private let processorSignal: SignalSource
    /// A Boolean value that indicates whether an app has ever had a `processorWatch`: most daemons have none.
    var hasWatchedProcessors = false
    var switchReports: SwitchReports?
    /// Opens `switchReports`, which takes too long for the round of the loop that needs them first.
    let openingOfReports: LaterSource
    /// Apps to be stopped in later rounds of the loop.
    var laterStops: BatchQueue
    /// Apps that are being stopped, and whose first check is scheduled after a pause: most have stopped by then.
    var begunStops: [AppIndex] = []
    let firstChecks: IdleSource
    let reaping: BatchedReaping
    /// Apps of the previous daemon that are to be restored and checked, in later rounds of the loop.
    private var unrestored: BatchQueue
    /// A Boolean value that indicates whether some of them may be children: after a re-execution.
    private(set) var hasSeenChildren = false
    private var isRestoring = false
    /// The processes of apps of the previous daemon that cannot be restored.
    var unmanagedTrees: [SavedTree] = []
    /// A Boolean value that indicates whether the failure of a watch has been reported.
    private var hasReportedLostWatch = false
    /// The processes that are held until the core launches their apps, for the present turn.
    private var candidates: [AppID: AdoptionCandidate] = [:]
    /// The apps that processes have joined that ran before.
    private var joined: [AppID] = []
    /// The apps that a watch was lost of, until a later attempt to watch them. Some may have ended.
    var unwatched: Set<AppIndex> = []

    init(core: CoreDriver, table: ProcessTable, log: any JournalSink) throws(SystemdError) {
        self.core = core
        self.table = table
        self.log = log
        let events = core.events
        firstChecks = try events.idle(.firstChecksDue)
        laterStops = BatchQueue(next: try events.later(.stopsDue))
        unrestored = BatchQueue(next: try events.later(.restorationDue))
        // Edge-triggered: level-triggered, epoll(7) reports all ready apps again for each that is handled.
        changes = try events.watchSet(for: [.exceptional, .edgeTriggered]) { .groupChanged($0) }
        mains = try events.watchSet(for: [.readable, .edgeTriggered]) { .mainChanged($0) }
        childSignal = try events.signal(SIGCHLD) { .childSignal($0) }
        processorSignal = try events.signal(ProcessorWatch.signal) { .processRan($0.value) }
        openingOfReports = try events.later(.switchReportsDue, .idle)
        reaping = try BatchedReaping(events)
    }

    func apply(_ settings: DaemonSettings) {
        table.setHelpers(settings.helpers)
        stopTimeout = settings.timeouts.suspension
    }

    func reportLostWatch(of app: AppIndex, _ error: Errno) {
        guard !hasReportedLostWatch else { return }
        hasReportedLostWatch = true
        log.write(
            .warning,
            "cannot watch the processes of \(core.id(of: app)): \(error); looking at such processes in intervals")
    }

    func report(_ app: AppIndex, _ outcome: Outcome) { core.append(.outcome(app, outcome)) }
    func save(_ app: RunningApp) { core.store.save(.launch, app.record().saved, of: core.id(of: app.index)) }
    /// Saves an app with the next step.
    func add(_ app: RunningApp) { core.store.add(.launch, app.record().saved, of: core.id(of: app.index)) }

    /// Lets the keepers forget what they have told. Called when the inputs that follow from it are saved.
    func confirmNews() {
        for tree in unconfirmed { tree.confirmNews() }
        unconfirmed = []
    }

    // MARK: Lookup

    /// Returns an app that runs. One of the previous daemon is restored at its first use: its descriptors are opened and watched.
    func app(_ index: AppIndex?) -> RunningApp? {
        guard let index else { return nil }
        return seen.removeValue(forKey: index).map { restore($0, of: index) } ?? running[index]
    }

    /// Returns the main process of an app; nil if it has ended.
    func pid(of app: AppIndex?) -> ProcessID? {
        guard let app else { return nil }
        return seen[app]?.launch.tree.main.pid ?? running[app]?.runningMain
    }

    func tree(of index: AppIndex?) -> ProcessTree? { app(index)?.tree }
    func isRunning(_ app: AppIndex?) -> Bool { app.map { seen[$0] != nil || running[$0] != nil } ?? false }
    func isAskedToEnd(_ app: AppIndex) -> Bool {
        seen[app]?.launch.isAskedToEnd ?? running[app]?.isAskedToEnd ?? false
    }

    func launch(of app: AppIndex) -> (token: LaunchToken, pidfd: Int32?)? {
        seen[app].map { ($0.launch.tree.token, $0.pidfdNumber) }
            ?? running[app].map { ($0.tree.token, $0.tree.mainDescriptor) }
    }

    /// Returns the changes that were made to the resources of an app; nil for none.
    func resources(of app: AppIndex) -> ResourceRecord? { seen[app]?.resources ?? running[app]?.tree.resources }
    /// Returns the instant of the launch of an app; nil if it does not run.
    func launched(of app: AppIndex) -> Instant? { seen[app]?.launch.launched ?? running[app]?.launched }

    /// Restores the record of the changes that the previous daemon has made to the resources of the processes.
    func restoreResources(_ record: ResourceRecord, of app: AppIndex) {
        seen[app]?.resources = record
        running[app]?.tree.restore(record)
    }

    /// Uses the control groups of the previous daemon for its apps alone, unless there are others: a frozen app can be thawed only
    /// through its control group.
    func keepGroups(at path: String?) {
        if table.cgroups == nil { table.previousCgroups = path.flatMap { try? CgroupSubtree.existing(at: $0) } }
    }
    var tokens: [LaunchToken] { seen.values.map(\.launch.tree.token) + running.values.map(\.tree.token) }

    /// The main processes that run.
    var mainProcesses: [(app: AppIndex, pid: ProcessID)] {
        seen.map { ($0.key, $0.value.launch.tree.main.pid) }
            + running.compactMap { index, app in app.runningMain.map { (index, $0) } }
    }

    /// Returns the main process of the app's latest launch, running or not.
    func lastPID(of app: AppIndex?) -> ProcessID? { app.flatMap { lastPIDs[$0] } }
    func forgetLastPID(of app: AppIndex) { lastPIDs[app] = nil }

    func processes(of app: AppIndex) -> [ProcessInfo] { self.app(app)?.tree.processes() ?? [] }
    var helpers: [Helper] { table.allHelpers() }

    /// Reads the arguments and the environments of processes.
    var memory: ProcessMemory { table.memory }

    // MARK: Launch, adoption, restoration

    /// Launches an app.
    ///
    /// - Parameter prepare: Called before the program is executed. A reason that it returns ends the launch.
    func spawn(
        _ index: AppIndex, _ request: SpawnRequest, as definition: AppDefinition, launched: Instant?,
        prepare: () -> StartFailure?
    ) {
        do throws(SpawnError) {
            let name = core.id(of: index).name
            let tree = try table.launch(request, name: name, suspendMethod: SuspendMethod(definition.suspendMethod))
            let app = RunningApp(index, tree, exitPolicy: definition.exitPolicy, launched: launched, core.events)
            try watchExec(of: app)
            insert(app)
            if let objection = prepare() {
                tree.kill()
                forget(app)
                return report(index, .spawnFailed(SystemFailure(objection)))
            }
            if let error = tree.begin() {
                tree.kill()
                forget(app)
                throw error
            }
        } catch {
            report(index, .spawnFailed(SystemFailure(StartFailure.spawn(error))))
        }
    }

    /// Holds a process that is to be adopted with the next launch of the app.
    func hold(_ process: AdoptionCandidate, for app: AppID) { candidates[app] = process }

    /// Lets the processes go that were not adopted.
    func dropCandidates() { candidates = [:] }

    /// Takes the apps that processes have joined since the last call.
    func takeJoined() -> [AppID] {
        defer { joined = [] }
        return joined
    }

    /// Adopts the process that is held, with the others in the group of its unit, or else with its descendants.
    ///
    /// - Returns: The reason why it was not adopted.
    func adopt(_ index: AppIndex, as definition: AppDefinition, launched: Instant?) -> StartFailure? {
        let id = core.id(of: index)
        let candidate = candidates.removeValue(forKey: id)
        guard let candidate, let process = candidate.take() else { return .notLaunchable }
        let tree =
            if let unit = candidate.unit {
                table.adopt(process, in: unit, suspendMethod: SuspendMethod(definition.suspendMethod))
            } else {
                table.adopt(process, name: id.name, suspendMethod: SuspendMethod(definition.suspendMethod))
            }
        guard let tree else { return .processEnded }
        let app = RunningApp(index, tree, exitPolicy: definition.exitPolicy, launched: launched, core.events)
        insert(app)
        beginWatching(of: app)
        joined.append(id)
        return nil
    }

    /// Adds the group of another unit to an app of units.
    ///
    /// - Returns: False if the app has the group already, or the group is gone.
    func add(_ unit: UnitGroup, to index: AppIndex) -> Bool {
        guard let app = app(index) else { return false }
        // The tree closes the descriptors of ended units.
        endChangeWatch(of: app)
        let isAdded = table.add(unit, to: app.tree)
        watchChanges(of: app)
        if isAdded {
            save(app)
            joined.append(core.id(of: index))
        }
        return isAdded
    }

    /// Returns whether the processes of an app ran before it was one.
    func isAdopted(_ app: AppIndex) -> Bool { running[app]?.tree.isAdopted ?? false }

    /// Returns the names of the units that hold an app; nil if none does.
    func units(of app: AppIndex) -> [String]? {
        guard let groups = running[app]?.tree.units, !groups.isEmpty else { return nil }
        return groups.compactMap { $0.split(separator: "/").last.map(String.init) }
    }

    /// The groups of the units of each app that units hold.
    var unitsByApp: [(app: AppIndex, groups: [String])] {
        running.map { (app: $0.key, groups: $0.value.tree.units) }.filter { !$0.groups.isEmpty }
    }

    func release(_ index: AppIndex) {
        guard let app = app(index) else { return report(index, .gone) }
        table.release(app.tree)
        forget(app)
        report(index, .exited(.unknown, othersLeft: false))
    }

    /// Restores an app of the previous daemon.
    ///
    /// - Parameters:
    ///   - pidfd: The pidfd of the main process; nil if none was stored.
    ///   - look: A look at the processes that may be all for now; nil if everything must be known.
    /// - Returns: The exit status of the main process if no process of the app is left; nil otherwise.
    func restore(
        _ index: AppIndex, _ record: LaunchRecord, pidfd: consuming Descriptor?, after look: FirstLook?
    ) -> ExitStatus? {
        if let look, let main = look.mainProcess(of: record.tree) {
            if main.parent == getpid() { hasSeenChildren = true }
            seen[index] = SeenApp(record, pidfd: pidfd)
            lastPIDs[index] = record.tree.main.pid
            unrestored.append(index)
            return nil
        }
        switch table.restore(record.tree, pidfd: pidfd) {
        case .ended(let status):
            lastPIDs[index] = record.tree.main.pid
            return ExitStatus(status)
        case .alive(let tree):
            insert(RunningApp(index, tree, record, core.events))
            return nil
        }
    }

    private func restore(_ seen: SeenApp, of index: AppIndex) -> RunningApp {
        let app = RunningApp(index, seen.restore(in: table), seen.launch, core.events)
        running[index] = app
        watchChanges(of: app)
        watchMain(of: app)
        // An operation that needs the processes may be under way; what has happened to them is reported after it.
        unrestored.append(index)
        return app
    }

    /// Restores the apps of the previous daemon that were seen only, and are meant.
    func restoreSeen(_ isMeant: (LaunchRecord) -> Bool = { _ in true }) {
        for (index, seen) in seen where isMeant(seen.launch) { _ = app(index) }
    }

    func restoreSeen(in group: String?) { restoreSeen { $0.tree.cgroup == group } }

    /// Reports what has happened to restored apps. Called when the core knows them. Those that were seen only follow later.
    func checkRestored() {
        isRestoring = true
        for index in running.keys.sorted(by: { core.id(of: $0) < core.id(of: $1) }) { checkRestored(index) }
        endRestoration()
    }

    /// Restores a batch of the apps that were seen only, and reports what has happened to them.
    func restoreSome() {
        while let app = unrestored.take() { checkRestored(app) }
    }

    /// Lets the work begin that waits for the first answer.
    func beginIdleWork() {
        unrestored.begin()
        laterStops.begin()
    }

    /// Removes what is left of the control groups. Called when all apps have ended.
    func leave() {
        table.terminateHelpers()
        table.removeDiscardedGroups()
        table.cgroups?.leave()
    }

    func beginWatching(of app: RunningApp) {
        watchMain(of: app)
        if case .none = app.operation, app.tree.newsDescriptor == nil || app.lacksMainEnd {
            app.endOperation()
        }
    }

    /// Watches the main process of a restored app, and reports its end.
    private func checkRestored(_ index: AppIndex) {
        guard let app = app(index) else { return endRestoration() }
        let tree = app.tree
        unrestored.remove(index)
        if !tree.isChild {
            beginWatching(of: app)
            if let status = tree.exitStatus, !app.hasReportedExit { mainEnded(app, status) }
            checkMain(of: app)
        }
        if running[index] === app { watchAskedProcesses(of: app) }
        endRestoration()
    }

    /// Does what needs every process of the previous daemon to be known.
    private func endRestoration() {
        guard isRestoring, seen.isEmpty else { return }
        (isRestoring, hasSeenChildren) = (false, false)
        let report = table.endRestoration(unmanaged: unmanagedTrees)
        unmanagedTrees = []
        if report.hasResumed {
            log.write(
                .warning,
                "cannot restore every app: the saved state is incomplete; end the processes that lifed continues, or "
                    + "adopt them")
        }
        log.write(report)
        reapAll()
    }

    private func insert(_ app: RunningApp) {
        running[app.index] = app
        lastPIDs[app.index] = app.tree.main.pid
        watchChanges(of: app)
        if app.tree.isReported { watchMain(of: app) }
        save(app)
    }

    func forget(_ app: RunningApp) {
        app.begin(.none)
        laterStops.remove(app.index)
        // The tree is about to close the watched descriptors.
        endWatches(of: app)
        running[app.index] = nil
        table.remove(app.tree.token)
        retryWatches()
        // The kernel takes long to remove a control group, and a reply may wait for the end of the app.
        reaping.begin(after: BatchedReaping.pause(children: table.childCount))
        DescriptorStore.discard(DescriptorStore.name(of: app.tree.token), log: log)
    }
}

/// A process held until it belongs to an app.
final class AdoptionCandidate {
    private var process: PinnedProcess?
    /// The group of the unit that the process is in, if that holds the app.
    let unit: UnitGroup?

    init(_ process: consuming PinnedProcess, unit: UnitGroup? = nil) {
        self.process = consume process
        self.unit = unit
    }

    func take() -> PinnedProcess? { process.take() }
}
