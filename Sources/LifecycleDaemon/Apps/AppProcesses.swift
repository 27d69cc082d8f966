import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Does to the apps' processes what the core wants, watches what becomes of it, and reports the outcomes.
final class AppProcesses {
    let loop: EventLoop
    let table = ProcessTable()
    var running: [AppID: RunningApp] = [:]
    var apps: [LaunchToken: AppID] = [:]
    var lastPIDs: [AppID: ProcessID] = [:]
    let report: (AppID, Outcome) -> Void
    private var childSignal: SignalSource?
    /// Apps to be stopped when those who wait for the loop have had their turn.
    private(set) var postponedStops: Rounds<AppID>?
    var furtherReaping: FurtherReaping?

    /// Told when nothing is left of a launch.
    var onEnd: (LaunchToken) -> Void = { _ in }

    /// Told when what is kept of an app's processes has changed.
    var onChange: (AppID, LaunchRecord) -> Void = { _, _ in }

    /// How long a tree may take to stop before that is reported.
    var stopTimeout = Duration.seconds(1)

    /// Where apps get a cgroup each; nil: they do not. Set it before the first launch.
    var cgroups: CgroupSubtree? {
        get { table.cgroups }
        set { table.cgroups = newValue }
    }

    init(loop: EventLoop, report: @escaping (AppID, Outcome) -> Void) throws(SystemdError) {
        self.loop = loop
        self.report = report
        postponedStops = try Rounds(loop: loop) { [weak self] in self?.stop($0) }
        childSignal = try loop.signal(SIGCHLD) { [weak self] in self?.reap($0) }
        furtherReaping = try FurtherReaping(loop: loop) { [weak self] in self?.reapAll() }
    }

    /// The main process of an app, as long as it has not ended.
    func pid(of id: AppID) -> ProcessID? {
        guard let tree = running[id]?.tree, tree.exitStatus == nil else { return nil }
        return tree.main.pid
    }

    /// What is left of the app's processes.
    func tree(of id: AppID) -> ProcessTree? { running[id]?.tree }

    /// Whether something is left of the app's processes.
    func isRunning(_ id: AppID) -> Bool { running[id] != nil }

    /// What is kept of the app's processes.
    func record(of id: AppID) -> LaunchRecord? { running[id]?.record }

    /// The mark of the app's launch, and the pidfd of its main process.
    func launch(of id: AppID) -> (token: LaunchToken, pidfd: Int32?)? {
        running[id].map { ($0.tree.token, $0.tree.mainDescriptor) }
    }

    /// Where the apps' cgroups are, those of a daemon before included.
    var groupsPath: String? { table.groups?.path }

    /// Lets the apps of a daemon before be in the cgroups that it gave them, though new ones get none.
    func keepGroups(at path: String?) { table.formerCgroups = path.flatMap { CgroupSubtree.existing(at: $0) } }

    /// The launches of which something is left.
    var tokens: Set<LaunchToken> { Set(apps.keys) }

    /// The main process of the app's latest launch, also after it ended.
    func lastPID(of id: AppID) -> ProcessID? { lastPIDs[id] }

    func forgetLastPID(of id: AppID) { lastPIDs[id] = nil }

    func containment(of id: AppID) -> ContainmentKind? { running[id]?.tree.containmentKind }

    func processes(of id: AppID) -> [ProcessInfo] { running[id]?.tree.processes() ?? [] }

    /// Whose process it is at this moment. Every app's process is in a cgroup of the apps or, as long as the daemon
    /// lives that started it, a descendant of ours, because orphans are adopted; it cannot change either by itself.
    func owner(of pid: ProcessID) -> ProcessOwner {
        guard let ancestry = Ancestry(of: pid) else { return .unknown }
        let isInGroup: Bool
        if let groups = table.groups {
            guard let place = groups.place(of: pid) else { return .unknown }
            if case .helper(let name) = place { return .app(AppID(name)) }
            isInGroup = place == .app
            if isInGroup, let id = app(containing: pid) { return .app(id) }
        } else {
            isInGroup = false
        }
        if ancestry.reachesThisProcess, let id = app(amongMainProcesses: ancestry.processes) { return .app(id) }
        if !table.isHeldByGroupsAlone, let id = app(containing: pid) { return .app(id) }
        return isInGroup || ancestry.reachesThisProcess ? .unknown : .noApp
    }

    private func app(containing pid: ProcessID) -> AppID? {
        table.tree(containing: pid).flatMap { apps[$0.token] }
    }

    /// An app whose main process has this one above it.
    func app(below pid: ProcessID) -> AppID? {
        running.values.first { app in
            app.tree.exitStatus == nil && RunningProcess.ancestors(of: app.tree.main.pid)?.contains(pid) ?? false
        }?.id
    }

    private func app(amongMainProcesses pids: [ProcessID]) -> AppID? {
        running.values.first { $0.tree.exitStatus == nil && pids.contains($0.tree.main.pid) }?.id
    }

    /// The helpers that apps have started and that serve others too.
    var helpers: [Helper] { table.allHelpers() }

    // MARK: What the core wants

    /// Starts an app. Its program is executed only when `prepare` has seen to it that the launch is not lost, and does not
    /// return why it may be.
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

    func makeApp(
        _ id: AppID, _ tree: ProcessTree, exitPolicy: Manifest.ExitPolicy, launched: Instant?
    ) -> RunningApp {
        RunningApp(id, tree, exitPolicy: exitPolicy, launched: launched, loop: loop) { [weak self] in self?.proceed($0)
        }
    }

    func insert(_ app: RunningApp) {
        running[app.id] = app
        lastPIDs[app.id] = app.tree.main.pid
        apps[app.tree.token] = app.id
        watchChanges(of: app)
        onChange(app.id, app.record)
    }

    /// Stops an app after those who wait for the loop have had their turn.
    func stopSoon(_ id: AppID) { postponedStops?.add(id) }

    func stop(_ id: AppID) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.begin(.stop(since: loop.freshNow, isReported: false))
        // Nothing but being known makes them the app's, also for a successor that is to continue them.
        if app.tree.isAdopted, app.tree.lookForStrays() { onChange(id, app.record) }
        let check = app.tree.stop()
        if !app.tree.heldBefore.isEmpty || !app.tree.strays.isEmpty { onChange(id, app.record) }
        if check == .stopped { finishStop(app) } else { app.lookAgain() }
    }

    func resume(_ id: AppID) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.rest()
        app.tree.resume()
        app.watchMirrors()
        report(id, .resumed)
    }

    func terminate(_ id: AppID, _ signal: Processes.Signal) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.rest()
        app.tree.terminate(with: signal)
        app.isAskedToEnd = true
        onChange(id, app.record)
    }

    func kill(_ id: AppID) {
        guard let app = running[id] else { return }
        postponedStops?.remove(id)
        app.begin(.kill)
        app.tree.kill()
        app.lookAgain()
    }
}
