import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The app that a process belongs to.
enum ProcessOwner: Equatable {
    case app(AppID)
    case noApp
    /// The process is one of an app that has ended, or its ancestry cannot be read.
    case unknown
}

/// Learns when nothing is left of a launch.
protocol ProcessDelegate: AnyObject {
    func launchEnded(_ token: LaunchToken)
    /// The app ends without these processes, which the daemon may not end.
    func leavesRunning(_ id: AppID, _ processes: String)
}

/// Spawns, stops, resumes and ends the processes of the apps, and gives the outcomes to the core.
final class AppProcesses {
    let table = ProcessTable()
    weak var delegate: (any ProcessDelegate)?
    /// The time in which a tree must stop before the daemon reports it.
    var stopTimeout = Duration.seconds(1)

    private let loop: EventLoop
    private let core: any InputHandler
    private let store: any StateStore
    private var running: [AppID: RunningApp] = [:]
    private var apps: [LaunchToken: AppID] = [:]
    private var lastPIDs: [AppID: ProcessID] = [:]
    private var childSignal: SignalSource?
    private var processorSignal: SignalSource?
    /// A Boolean value that indicates whether an app has ever had a `processorWatch`: most daemons have none.
    private var hasWatchedProcessors = false
    private var switchReports: SwitchReports?
    /// Opens `switchReports`, which takes too long for the round of the loop that needs them first.
    private var openingOfReports: DeferredSource?
    /// Apps to be stopped in later rounds of the loop.
    private var postponedStops: BatchQueue<AppID>?
    private var reaping: DelayedReaping?
    /// Apps of a former daemon whose processes are to be restored, in later rounds of the loop.
    private var unrestored: BatchQueue<AppID>?
    /// The number of apps that have been seen and are not restored.
    private var seenCount = 0
    /// A Boolean value that indicates whether some of them may be children: after a re-execution.
    private var hasSeenChildren = false
    private var isRestoring = false

    /// The parent of the apps' control groups; nil for none. Set before the first launch.
    var cgroups: CgroupSubtree? {
        get { table.cgroups }
        set { table.cgroups = newValue }
    }

    init(loop: EventLoop, core: any InputHandler, store: any StateStore) throws(SystemdError) {
        self.loop = loop
        self.core = core
        self.store = store
        postponedStops = try BatchQueue(loop: loop, isHeld: true) { [weak self] in self?.stop($0) }
        unrestored = try BatchQueue(loop: loop, isHeld: true) { [weak self] in self?.checkRestored($0) }
        childSignal = try loop.signal(SIGCHLD) { [weak self] in self?.reap($0) }
        processorSignal = try loop.signal(ProcessorWatch.signal) { [weak self] in self?.noticeRunning($0.value) }
        openingOfReports = try loop.deferred { [weak self] in self?.openSwitchReports() }
        openingOfReports?.setPriority(.idle)
        reaping = try DelayedReaping(loop: loop) { [weak self] in self?.reapAll() }
    }

    private func report(_ id: AppID, _ outcome: Outcome) { core.handle(.outcome(id, outcome)) }
    private func save(_ app: RunningApp) { store.save(.launch, app.record.saved(app.id)) }

    // MARK: Lookup

    /// The main process of an app; nil if it has ended.
    func pid(of id: AppID) -> ProcessID? {
        guard let app = running[id], app.isMainRunning else { return nil }
        return app.main.pid
    }

    func tree(of id: AppID) -> ProcessTree? { running[id]?.tree }
    func isRunning(_ id: AppID) -> Bool { running[id] != nil }
    func isAskedToEnd(_ id: AppID) -> Bool { running[id]?.isAskedToEnd ?? false }

    /// The record of the app's launch; that of a former daemon as long as nothing more is known.
    func savedLaunch(of id: AppID) -> SavedRecord? { running[id].map { $0.seen?.saved ?? $0.record.saved(id) } }

    func launch(of id: AppID) -> (token: LaunchToken, pidfd: Int32?)? {
        running[id].map { app in (app.token, app.seen.map(\.pidfdNumber) ?? app.tree.mainDescriptor) }
    }

    /// The directory of the apps' control groups, that of a former daemon included.
    var groupsPath: String? { table.groups?.path }

    /// Uses the control groups of a former daemon for its apps alone.
    func keepGroups(at path: String?) { table.formerCgroups = path.flatMap { CgroupSubtree.existing(at: $0) } }
    var tokens: Set<LaunchToken> { Set(apps.keys) }

    /// The main process of the app's latest launch, running or not.
    func lastPID(of id: AppID) -> ProcessID? { lastPIDs[id] }
    func forgetLastPID(of id: AppID) { lastPIDs[id] = nil }
    /// Returns the apps that a pipe or a Unix socket connects with an app. Looks at all open files of all apps.
    func appsConnected(to id: AppID) -> [AppID] {
        guard let app = running[id] else { return [] }
        let ends = PipeEnds(of: app.tree.processIDs)
        let sockets = (try? UnixSocket.all()) ?? []
        let peers = Dictionary(sockets.map { ($0.inode, $0.peer) }, uniquingKeysWith: { $1 })
        return running.filter { other, app in
            other != id && ends.areConnected(to: PipeEnds(of: app.tree.processIDs), peers: peers)
        }.keys.sorted()
    }

    func processes(of id: AppID) -> [ProcessInfo] { running[id]?.tree.processes() ?? [] }
    var helpers: [Helper] { table.allHelpers() }

    /// Returns the processes that may have left the tree and belong to no app.
    func strangers(youngerThan tree: ProcessTree) -> [ForeignProcess] {
        if hasSeenChildren { restoreSeen() }
        return table.strangers(youngerThan: tree)
    }

    /// Returns the owner of a process at this moment.
    ///
    /// Every process of an app is in a control group of the apps or, while the daemon lives that launched it, a descendant
    /// of the daemon, which is the subreaper. The process can change neither.
    func owner(of pid: ProcessID) -> ProcessOwner {
        guard let ancestry = Ancestry(of: pid) else { return .unknown }
        // A process of an app that was only seen may be anywhere.
        restoreSeen { ancestry.processes.contains($0.tree.main.pid) }
        var isInGroup = false
        if let groups = table.groups {
            guard let place = groups.place(of: pid) else { return .unknown }
            if case .helper(let name) = place { return .app(AppID(name)) }
            isInGroup = place == .app
            if isInGroup { restoreSeen(in: groups.groupName(of: pid)) }
            if isInGroup, let id = app(containing: pid) { return .app(id) }
        }
        if ancestry.reachesThisProcess, let id = app(amongMainProcesses: ancestry.processes) { return .app(id) }
        if !table.isHeldByGroupsAlone, let id = app(containing: pid) { return .app(id) }
        return isInGroup || ancestry.reachesThisProcess || table.mayHaveLost(pid) ? .unknown : .noApp
    }

    private func app(containing pid: ProcessID) -> AppID? {
        table.tree(containing: pid).flatMap { apps[$0.token] }
    }

    func app(below pid: ProcessID) -> AppID? {
        running.values.first { app in
            app.isMainRunning && RunningProcess.ancestors(of: app.main.pid)?.contains(pid) ?? false
        }?.id
    }

    private func app(amongMainProcesses pids: [ProcessID]) -> AppID? {
        running.values.first { $0.isMainRunning && pids.contains($0.main.pid) }?.id
    }

    // MARK: Launch, adoption, restoration

    /// Launches an app.
    ///
    /// - Parameter prepare: Called before the program is executed. A reason that it returns ends the launch.
    func spawn(
        _ id: AppID, _ request: SpawnRequest, as definition: AppDefinition, launched: Instant?,
        prepare: () -> String?
    ) {
        do throws(SpawnError) {
            let tree = try table.launch(request, name: id.name, suspendMethod: definition.suspendMethod)
            let app = makeApp(id, tree, exitPolicy: definition.exitPolicy, launched: launched)
            try watchExec(of: app)
            insert(app)
            if let objection = prepare() {
                tree.kill()
                forget(app)
                return report(id, .spawnFailed(.unrecorded(objection)))
            }
            if let error = tree.begin() {
                tree.kill()
                forget(app)
                throw error
            }
        } catch {
            report(id, .spawnFailed(StartFailure(error)))
        }
    }

    /// Adopts a process that the daemon has not started, with its descendants.
    ///
    /// - Returns: A Boolean value that indicates whether the process still exists.
    func adopt(
        _ id: AppID, _ process: consuming HeldProcess, as definition: AppDefinition, launched: Instant?
    ) -> Bool {
        let tree = table.adopt(process, name: id.name, suspendMethod: definition.suspendMethod)
        guard let tree else { return false }
        let app = makeApp(id, tree, exitPolicy: definition.exitPolicy, launched: launched)
        insert(app)
        beginWatching(of: app)
        return true
    }

    /// Adopts the processes in the group of a unit.
    ///
    /// - Returns: A Boolean value that indicates whether the main process still exists.
    func adopt(
        _ id: AppID, _ process: consuming HeldProcess, in unit: UnitGroup, as definition: AppDefinition,
        launched: Instant?
    ) -> Bool {
        let tree = table.adopt(process, in: unit, suspendMethod: definition.suspendMethod)
        guard let tree else { return false }
        let app = makeApp(id, tree, exitPolicy: .last, launched: launched)
        insert(app)
        beginWatching(of: app)
        return true
    }

    /// Adds the group of another unit to an app of units.
    ///
    /// - Returns: False if the app has the group already, or the group is gone.
    func add(_ unit: UnitGroup, to id: AppID) -> Bool {
        guard let app = running[id] else { return false }
        // The tree closes the descriptors of ended units.
        app.cancelChangeWatches()
        let isAdded = table.add(unit, to: app.tree)
        watchChanges(of: app, app.tree)
        if isAdded { save(app) }
        return isAdded
    }

    /// The names of the units that hold an app; nil if none does.
    func units(of id: AppID) -> [String]? {
        guard let app = running[id], app.seen == nil, !app.tree.units.isEmpty else { return nil }
        let places = app.tree.units
        return places.compactMap { $0.split(separator: "/").last.map(String.init) }
    }

    /// The places of the units of each app that units hold.
    var unitsByApp: [AppID: [String]] {
        running.mapValues { $0.seen == nil ? $0.tree.units : [] }.filter { !$0.value.isEmpty }
    }

    /// The cause why processes of a killed app have not ended, and the remedy.
    func failedEnd(of id: AppID) -> String? { running[id]?.describeFailedEnd() }

    func release(_ id: AppID) {
        guard let app = running[id] else { return report(id, .gone) }
        table.release(app.tree)
        forget(app)
        report(id, .exited(.unknown, othersLeft: false))
    }

    /// Restores an app of a former daemon.
    ///
    /// - Parameter saved: The record that the launch was read from.
    /// - Parameter pidfd: The pidfd of the main process; nil if none was stored.
    /// - Parameter look: A look at the processes that may be all for now; nil if everything must be known.
    /// - Returns: The exit status of the main process if no process of the app is left; nil otherwise.
    func restore(
        _ id: AppID, _ record: LaunchRecord, saved: SavedRecord, pidfd: consuming Descriptor?, after look: FirstLook?
    ) -> LifecycleCore.ExitStatus? {
        if let look, let main = look.mainProcess(of: record.tree) {
            if main.parent == getpid() { hasSeenChildren = true }
            insert(SeenApp(record, saved: saved, pidfd: pidfd), as: id)
            return nil
        }
        switch table.restore(record.tree, pidfd: pidfd) {
        case .ended(let status):
            lastPIDs[id] = record.tree.main.pid
            return LifecycleCore.ExitStatus(status)
        case .alive(let tree):
            let app = makeApp(id, tree, exitPolicy: record.exitPolicy, launched: record.launched)
            app.isAskedToEnd = record.isAskedToEnd
            app.hasReportedExit = record.hasReportedExit
            insert(app)
            return nil
        }
    }

    private func insert(_ seen: SeenApp, as id: AppID) {
        let proceed = { [weak self] (app: RunningApp) in self?.continueOperation(of: app) ?? () }
        let app = RunningApp(id, seen, loop: loop, proceed: proceed) { [table, weak self] app, seen in
            let tree = seen.restore(in: table)
            self?.noteRestored(app, tree)
            return tree
        }
        seenCount += 1
        running[id] = app
        lastPIDs[id] = app.main.pid
        apps[app.token] = id
        unrestored?.append(id)
    }

    private func noteRestored(_ app: RunningApp, _ tree: ProcessTree) {
        seenCount -= 1
        watchChanges(of: app, tree)
        watchMain(of: app, tree)
        // An operation that needs the processes may be under way; what has happened to them is reported after it.
        unrestored?.append(app.id)
    }

    /// Restores the apps of a former daemon that were seen only, and are meant.
    private func restoreSeen(_ isMeant: (LaunchRecord) -> Bool = { _ in true }) {
        guard seenCount > 0 else { return }
        for app in running.values { if let seen = app.seen, isMeant(seen.launch) { _ = app.tree } }
    }

    private func restoreSeen(in group: String?) { restoreSeen { $0.tree.cgroup == group } }

    /// Reports what has happened to restored apps. Called when the core knows them. Those that were seen only follow later.
    func checkRestored() {
        isRestoring = true
        for id in running.keys.sorted() where running[id]?.seen == nil { checkRestored(id) }
        endRestoration()
    }

    /// Lets the work begin that waits for the first answer.
    func beginPostponedWork() {
        unrestored?.begin()
        postponedStops?.begin()
    }

    private func beginWatching(of app: RunningApp) {
        if app.mainWatch == nil { watchMain(of: app, app.tree) }
        if case .none = app.operation, app.tree.mainDescriptor == nil { app.endOperation() }
    }

    /// Watches the main process of a restored app, and reports its end.
    private func checkRestored(_ id: AppID) {
        guard let app = running[id] else { return endRestoration() }
        let tree = app.tree
        unrestored?.remove(id)
        if !tree.isChild {
            beginWatching(of: app)
            if let status = tree.exitStatus, !app.hasReportedExit { mainEnded(app, status) }
            checkMain(of: app)
        }
        endRestoration()
    }

    /// Does what needs every process of the former daemon to be known.
    private func endRestoration() {
        guard isRestoring, seenCount == 0 else { return }
        (isRestoring, hasSeenChildren) = (false, false)
        table.removeEmptyGroups()
        reapAll()
    }

    private func makeApp(
        _ id: AppID, _ tree: ProcessTree, exitPolicy: Manifest.ExitPolicy, launched: Instant?
    ) -> RunningApp {
        RunningApp(id, tree, exitPolicy: exitPolicy, launched: launched, loop: loop) { [weak self] in
            self?.continueOperation(of: $0)
        }
    }

    private func insert(_ app: RunningApp) {
        running[app.id] = app
        lastPIDs[app.id] = app.tree.main.pid
        apps[app.tree.token] = app.id
        watchChanges(of: app, app.tree)
        save(app)
    }

    private func forget(_ app: RunningApp) {
        app.begin(.none)
        postponedStops?.remove(app.id)
        // The tree is about to close the watched descriptors.
        app.cancelWatches()
        running[app.id] = nil
        apps[app.tree.token] = nil
        table.remove(app.tree.token)
        delegate?.launchEnded(app.tree.token)
    }

    // MARK: Operations

    func stopSoon(_ id: AppID) { postponedStops?.append(id) }

    func stop(_ id: AppID) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.begin(.stop(since: loop.freshNow, isReported: false))
        // Only the record connects these processes to the app, also for a successor that is to continue them.
        if app.tree.isAdopted, app.tree.lookForStrays() { save(app) }
        let check = app.tree.stop()
        if !app.tree.heldBefore.isEmpty || !app.tree.strays.isEmpty { save(app) }
        if check == .stopped { finishStop(app) } else { app.scheduleCheck() }
    }

    func resume(_ id: AppID) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.endOperation()
        app.tree.resume()
        app.watchMirrors()
        report(id, .resumed)
    }

    func terminate(_ id: AppID, _ signal: Processes.Signal) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.endOperation()
        app.tree.terminate(with: signal)
        app.isAskedToEnd = true
        save(app)
    }

    func kill(_ id: AppID) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.begin(.kill)
        app.tree.kill()
        app.scheduleCheck()
    }

    private func continueOperation(of app: RunningApp) {
        switch app.operation {
        case .none: break
        case .stop: checkStop(app)
        case .kill:
            app.tree.kill()
            checkMain(of: app)
            // The daemon may not end a main process that has gained privileges; the app ends without it.
            if running[app.id] === app, app.tree.isMainForeign, app.tree.processes().isEmpty {
                delegate?.leavesRunning(app.id, app.tree.foreignProcesses().map(\.info.subject).joined(separator: ", "))
                return release(app.id)
            }
            app.scheduleCheck()
        case .drain:
            checkMain(of: app)
            app.scheduleCheck()
        }
    }

    private func checkStop(_ app: RunningApp) {
        guard case .stop(let since, let isReported) = app.operation else { return }
        guard case .pending(let pids) = app.tree.checkStopped() else { return finishStop(app) }
        if !isReported, loop.freshNow - since >= stopTimeout.wholeMicroseconds {
            app.operation = .stop(since: since, isReported: true)
            report(app.id, .stopIncomplete(app.describeFailedStop(pids)))
            // A tree that does not freeze in time is not left half frozen; signals go on trying.
            if app.tree.isFreezing, app.tree.stopWithoutFreezing() == .stopped { return finishStop(app) }
        }
        app.scheduleCheck()
    }

    private func finishStop(_ app: RunningApp) {
        // A later look may have found processes outside of the group, which a successor or the rescue has to continue.
        if !app.tree.strays.isEmpty { save(app) }
        app.endOperation()
        watchProcessor(of: app)
        report(app.id, .stopped)
    }

    // MARK: Continued by others

    /// Reports the apps that another program has continued without notice from the kernel.
    func noticeContinuations() {
        guard hasWatchedProcessors else { return }
        for app in running.values where app.processorWatch?.mayHaveRun ?? false {
            if app.tree.hasUnnoticedContinuation { report(app.id, .resumedByOther) }
        }
    }

    private func watchProcessor(of app: RunningApp) {
        app.watchProcessor(with: switchReports) { [weak self] in self?.noticeRunning($0) }
        guard app.processorWatch != nil, !hasWatchedProcessors else { return }
        hasWatchedProcessors = true
        openingOfReports?.schedule()
    }

    private func openSwitchReports() {
        switchReports = SwitchReports()
        guard switchReports != nil else { return }
        for app in running.values where app.processorWatch != nil { noticeRunning(app) }
    }

    private func noticeRunning(_ pid: ProcessID) {
        guard let app = running.values.first(where: { $0.processorWatch?.hasTimer(for: pid) ?? false }) else { return }
        noticeRunning(app)
    }

    private func noticeRunning(_ app: RunningApp) {
        // In this order no continuation is missed. Nothing runs if, for example, a debugger has looked at the process.
        watchProcessor(of: app)
        if app.tree.hasUnnoticedContinuation { report(app.id, .resumedByOther) }
    }

    // MARK: Events of the kernel

    /// Watches the control group of an app. Without the watch, timers and the reaper find changes later.
    ///
    /// The watches are edge-triggered: level-triggered, epoll(7) reports all ready apps again for each that is handled.
    private func watchChanges(of app: RunningApp, _ tree: ProcessTree) {
        let events: IOEvents = [.exceptional, .edgeTriggered]
        app.changeWatches = tree.changeDescriptors.compactMap { descriptor in
            try? loop.watch(descriptor: descriptor, events: events) { [weak self, weak app] _ in
                if let app { self?.noticeChange(of: app) }
            }
        }
    }

    private func noticeChange(of app: RunningApp) {
        guard let events = table.acknowledgeChange(of: app.tree.token) else { return app.cancelChangeWatches() }
        if case .stop = app.operation { checkStop(app) }
        for event in events { handle(event) }
    }

    private func watchExec(of app: RunningApp) throws(SpawnError) {
        guard let descriptor = app.tree.execStatusDescriptor else { return }
        do throws(SystemdError) {
            app.execWatch = try loop.watch(descriptor: descriptor, events: .readable) { [weak self, weak app] _ in
                if let app { self?.readExecStatus(of: app) }
            }
        } catch {
            app.tree.kill()
            table.remove(app.tree.token)
            throw .setUp(step: "watch the new process", error: Processes.Errno(rawValue: error.errno))
        }
    }

    private func readExecStatus(of app: RunningApp) {
        guard app.execWatch != nil else { return }
        // The tree closes the descriptor as soon as it knows the status; nothing may watch it then.
        app.execWatch?.isEnabled = false
        switch app.tree.execStatus() {
        case .pending: app.execWatch?.isEnabled = true
        case .running:
            app.execWatch = nil
            report(app.id, .spawned)
        case .failed(let error):
            forget(app)
            report(app.id, .spawnFailed(StartFailure(error)))
        }
    }

    private func watchMain(of app: RunningApp, _ tree: ProcessTree) {
        guard !tree.isChild, let descriptor = tree.mainDescriptor else { return }
        let events: IOEvents = [.readable, .edgeTriggered]
        app.mainWatch = try? loop.watch(descriptor: descriptor, events: events) { [weak self, weak app] _ in
            guard let self, let app else { return }
            app.mainWatch?.cancel()
            app.mainWatch = nil
            checkMain(of: app)
        }
    }

    private func checkMain(of app: RunningApp) {
        for event in table.checkMain(of: app.tree.token) { handle(event) }
    }

    /// Reaps the child that SIGCHLD names, and later all others for which the signal may stand as well.
    private func reap(_ signal: SignalInfo) {
        if hasSeenChildren { restoreSeen() }
        for event in table.reap(child: signal.processID).events { handle(event) }
        reaping?.begin(after: DelayedReaping.pause(children: table.childCount), from: loop.freshNow)
    }

    private func reapAll() {
        if hasSeenChildren { restoreSeen() }
        let reaped = table.reap()
        for event in reaped.events { handle(event) }
        if !reaped.isDrained { reaping?.begin(after: 0, from: loop.freshNow) }
    }

    private func handle(_ event: TreeEvent) {
        guard let id = apps[event.tree], let app = running[id] else { return }
        switch event.change {
        case .mainEnded(let status): mainEnded(app, status)
        case .mainStopped(_, asked: true), .memberStopped: if case .stop = app.operation { checkStop(app) }
        case .mainStopped(_, asked: false): if !app.resumeMirrors() { report(id, .stoppedByOther) }
        case .mainContinued(asked: false), .memberContinued(_, asked: false): report(id, .resumedByOther)
        case .mainContinued(asked: true), .memberContinued(_, asked: true): break
        case .thawed: if case .none = app.operation { report(id, .resumedByOther) }
        case .emptied: emptied(app)
        }
    }

    private func mainEnded(_ app: RunningApp, _ status: Processes.ExitStatus) {
        readExecStatus(of: app)
        guard running[app.id] === app else { return }
        let othersLeft = !app.tree.isEmpty
        if !othersLeft { forget(app) }
        if othersLeft, case .none = app.operation { app.endOperation() }
        if othersLeft && app.exitPolicy == .last { return }
        app.hasReportedExit = true
        if othersLeft { save(app) }
        report(app.id, .exited(LifecycleCore.ExitStatus(status), othersLeft: othersLeft))
    }

    private func emptied(_ app: RunningApp) {
        forget(app)
        if !app.hasReportedExit, app.tree.exitStatus != nil || !app.tree.units.isEmpty {
            // The main process of a unit may run on elsewhere.
            let status = app.tree.exitStatus.map { LifecycleCore.ExitStatus($0) } ?? .unknown
            report(app.id, .exited(status, othersLeft: false))
        } else {
            report(app.id, .gone)
        }
    }
}

extension LifecycleCore.ExitStatus {
    init(_ status: Processes.ExitStatus) {
        switch status {
        case .exited(let code): self = .code(code)
        case .killed(let signal, _): self = .signal(signal.rawValue)
        case .unknown: self = .unknown
        }
    }
}
