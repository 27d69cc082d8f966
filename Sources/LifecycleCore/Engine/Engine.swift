import DequeModule
@_exported public import LifecycleTypes
public import OrderedCollections

/// The core: it decides, and does nothing. Inputs and the time go in, a ``Ready`` comes out.
///
/// For the same state, input and instant it returns the same, and it handles any input in any state. It routes each input to the
/// ``AppMachine`` of one app, and holds what concerns several apps. An ``AppID`` is looked up once, where it comes from a client or the
/// configuration; all else has an ``AppIndex``. Its caller keeps this contract:
///
/// - Deliver one ``Input/tick`` for each deadline that is due before any other input.
/// - After each input, save the records of ``takeChangedIndexes()``, and then perform the fields of the ``Ready`` in their order.
/// - Return the outcome of each operation as a later input.
/// - Deliver a tick when ``nextDeadline`` has come.
public struct Engine: Sendable {
    /// The apps that are known, running or not.
    public internal(set) var knownApps = AppTable()
    /// The state that the machines share.
    var shared = Shared()
    var reclaimer = Reclaimer()
    /// The apps that are used in each way.
    private var used: [Use: Set<AppIndex>] = [:]
    private(set) var daemonPhase = DaemonPhase.beforeStart
    /// True if the apps of the start were launched, by this daemon or a previous one.
    var hasLaunchedAtStart = false

    /// The phases of a daemon, in their order; a daemon may be told to stop before its start.
    enum DaemonPhase: Sendable {
        /// Apps are defined or restored, and none is launched without a request.
        case beforeStart
        /// The daemon has started.
        case running
        /// Every app is to end, and none may be launched.
        case shuttingDown
        /// The last app has ended, and the caller was told so.
        case finished
    }

    /// Creates a core that knows no app.
    public init() {}

    /// The foreground apps, the latest first; never more than the settings allow.
    public var foreground: [AppID] { shared.foreground.map { knownApps.id(of: $0) } }

    // An object that holds a core has it looked at in place by these: to a method that does not change it, Swift would pass a copy.

    /// Returns the index of an app that is known, or that the last input has forgotten: what it leads to is still to be performed.
    public mutating func latestIndex(of id: AppID) -> AppIndex? { knownApps.latestIndex(of: id) }

    /// Returns the id of the app that has the index, or had it last.
    public mutating func latestID(of index: AppIndex) -> AppID { knownApps.id(of: index) }

    /// Returns a copy of the machine of an app; nil if the app is not known any more.
    public mutating func machine(of index: AppIndex) -> AppMachine? { knownApps[known: index] }

    /// The apps in a state of the foreground, the latest first; those that leave it come last.
    public var appsInForegroundStates: [AppID] {
        let leaving = knownApps.sortedIndexes { $0.state.isForeground && !shared.foreground.contains($0.index) }
        return (shared.foreground.filter { knownApps[$0].state.isForeground } + leaving).map { knownApps.id(of: $0) }
    }

    /// The names of the interruptions under way.
    public var interruptions: OrderedSet<String> { shared.interruptions }

    /// The conditions under which no app is in the foreground.
    public var foregroundBlockers: OrderedSet<ForegroundBlocker> { shared.blockers }

    /// The settings that apply to all apps.
    public var settings: Settings { shared.settings }

    /// A Boolean value that indicates whether every app is to end and none may be launched.
    public var isShuttingDown: Bool {
        switch daemonPhase {
        case .beforeStart, .running: false
        case .shuttingDown, .finished: true
        }
    }

    /// The number of apps that have a process, or are getting one.
    public var runningCount: Int { shared.runningCount }

    /// The earliest deadline.
    public var nextDeadline: Instant? {
        [shared.deadlines.earliest, reclaimer.settlingEnd].compactMap { $0 }.min()
    }

    /// The time of the last input.
    var now: Instant { shared.now }

    // MARK: Input

    /// Handles one input. A ``Input/tick`` acts upon the earliest deadline, if that is due by `now`. So one input leads to one
    /// callback an app at most, and the saved state, which has room for one, is never behind by more.
    ///
    /// - Parameters:
    ///   - input: The input.
    ///   - now: The time. An earlier time than that of the last input counts as the same time.
    /// - Returns: What the input leads to.
    public mutating func handle(_ input: Input, at now: Instant) -> Ready {
        shared.now = max(now, shared.now)
        shared.ready = Ready()
        knownApps.freeIndexes()
        route(input)
        reconcile()
        continueReclaim()
        reconcile()
        finishShutDown()
        return shared.ready
    }

    private mutating func route(_ input: Input) {
        switch input {
        case .start: start()
        case .configure(let settings): configure(settings)
        case .define(let id, let policy): define(id, policy)
        case .forget(let id): if let app = knownApps.index(of: id) { forget(app) }
        case .remember(let id, let exit): if let app = knownApps.index(of: id) { remember(exit, of: app) }
        case .request(let request, let wanted): begin(wanted, for: request)
        case .setUses(let use, let ids): setUses(use, ids)
        case .shutDown: shutDown()
        case .outcome(let app, let outcome): if knownApps.contains(app) { handle(outcome, of: app) }
        case .message(let app, let message):
            if knownApps.contains(app) { changeScenes(of: app) { $0.handle(message, &$1) } }
        case .resumeRestored: resumeRestored()
        case .memory(let shortage): handle(shortage)
        case .tick: passDeadline()
        }
    }

    private mutating func passDeadline() {
        if let end = reclaimer.settlingEnd, end <= now, end <= shared.deadlines.earliest ?? end { return readMemory() }
        if let due = shared.deadlines.popDue(now) { handle(due.kind, of: due.app) }
    }

    /// Fills the foreground, and lets every app that is affected take the steps that it can take now.
    private mutating func reconcile() {
        fillForeground()
        while let app = shared.reconciles.popFirst() {
            guard knownApps.contains(app) else { continue }
            // Other apps do not resign during the turn of this one.
            shared.activation.stayingCount = shared.activation.slots.count { $0 != app && !knownApps[$0].isResigning }
            let isOver = change(app) { machine, shared in
                machine.awaitConnection(&shared)
                machine.recomputeTarget(&shared)
                while machine.step(&shared) {}
                machine.answerWaiters(&shared)
                return machine.isToBeForgotten && machine.launch.instant != nil
            }
            if isOver { remove(app) }
        }
    }

    /// Changes one machine.
    @discardableResult
    mutating func change<Result>(_ app: AppIndex, _ body: (inout AppMachine, inout Shared) -> Result) -> Result {
        body(&knownApps[app], &shared)
    }

    private mutating func handle(_ outcome: Outcome, of app: AppIndex) {
        switch outcome {
        case .memoryMeasured(let size): return noteSize(size, of: app)
        case .spawnFailed(let failure): if knownApps[app].isSpawning { spawnFailed(app, failure) }
        case .exited(let status, let othersLeft): exited(app, status, othersLeft: othersLeft)
        case .gone: gone(app)
        case .keeperEnded where knownApps[app].state == .terminating: change(app) { $0.killTree(&$1) }
        case .keeperEnded where knownApps[app].desired.isEnd: change(app) { $0.beginEnd(atOnce: true, &$1) }
        case .keeperEnded: end(app, atOnce: true, reason: .keeperEnded)
        case .spawned, .stopped, .stopIncomplete, .resumed, .resumedByOther, .stoppedByOther, .signalPending:
            change(app) { $0.handle(outcome, &$1) }
        }
        shared.reconciles.appendOnce(app)
    }

    private mutating func handle(_ kind: DeadlineKind, of app: AppIndex) {
        switch kind {
        case .background, .signal: break
        case .killed: killOverdue(app)
        case .restart: restart(app)
        case .answer: if let reason = change(app, { $0.answerOverdue(&$1) }) { end(app, atOnce: true, reason: reason) }
        case .launch: if !knownApps[app].isReady { end(app, atOnce: true, reason: .launchTimeout) }
        case .taskExpiration: if change(app, { $0.tasksOverdue(&$1) }) { end(app, atOnce: true, reason: .taskTimeout) }
        case .resignation: change(app) { $0.resignationOverdue(&$1) }
        case .reconnection: change(app) { if $0.isReconnecting { $0.disconnect(&$1) } }
        case .exit: change(app) { $0.exitOverdue(&$1) }
        case .tasks: change(app) { $0.expireTasks(&$1) }
        case .performTask: change(app) { $0.taskOverdue(&$1) }
        case .hello: change(app) { $0.connectionOverdue(&$1) }
        case .sceneDisconnection: change(app) { $0.sceneDisconnectionOverdue(&$1) }
        case .termination: change(app) { $0.terminationOverdue(&$1) }
        case .woken: change(app) { $0.endWorkTime(&$1) }
        }
        shared.reconciles.appendOnce(app)
    }

    // MARK: Definitions

    mutating func configure(_ settings: Settings) {
        let homeBefore = shared.home
        shared.settings = settings
        shared.home = settings.homeApp.flatMap { knownApps.index(of: $0) }
        if let homeBefore { dropUncoveredRestart(of: homeBefore) }
        shared.settings.foregroundLimit = max(1, settings.foregroundLimit)
        trimForeground(reason: .foregroundLimit)
        for app in shared.activation.slots { shared.reconciles.appendOnce(app) }
        reconcileUsed()
        shared.reconcileWaiting()
    }

    /// Returns whether an app runs with this policy: ``Input/define(_:_:)`` changes nothing then.
    ///
    /// - Parameters:
    ///   - id: The id of the app.
    ///   - policy: The policy to compare with that of the app.
    /// - Returns: True if the app is known, has a process or is getting one, and has this policy.
    public mutating func isRunning(_ id: AppID, with policy: Policy) -> Bool {
        guard let app = knownApps.index(of: id) else { return false }
        return knownApps[app].isRunning && knownApps[app].policy == policy
    }

    private mutating func define(_ id: AppID, _ policy: Policy) {
        guard !isRunning(id, with: policy) else { return }
        let app = knownApps.index(of: id) ?? insert(id, policy)
        let isInForeground = shared.foreground.contains(app)
        change(app) { machine, shared in
            // Where the new policy moves a background app, it is the reason.
            if machine.isRunning, machine.policy.suspend != policy.suspend, machine.desired == .run, !isInForeground {
                machine.desiredReason = .policy
            }
            machine.policy = policy
            machine.completeLaunchWithoutDeadline(shared)
        }
        dropUncoveredRestart(of: app)
        shared.reconciles.appendOnce(app)
    }

    /// Adds an app that is not known.
    mutating func insert(_ id: AppID, _ policy: Policy) -> AppIndex {
        let app = knownApps.insert(id, policy, since: now)
        if id == settings.homeApp { shared.home = app }
        return app
    }

    private mutating func remember(_ exit: ExitRecord, of app: AppIndex) {
        change(app) { machine, _ in
            if !machine.isRunning, machine.lastExit == nil { machine.lastExit = exit }
        }
    }

    private mutating func forget(_ app: AppIndex) {
        change(app) { machine, _ in machine.policy.isTransient = true }
        if knownApps[app].isToBeForgotten { remove(app) }
    }

    /// Forgets an app without a manifest with its last process. By then every request that waited for it is answered.
    private mutating func remove(_ app: AppIndex) {
        shared.deadlines.clearAll(app)
        shared.returning.remove(app)
        shared.activation.waiting.remove(app)
        for use in Use.allCases { used[use]?.remove(app) }
        if shared.home == app { shared.home = nil }
        let machine = knownApps[app]
        knownApps.remove(app)
        shared.ready.forgotten.append(Ready.Forgotten(app: app, exit: machine.lastExit, reclaimed: machine.reclaimed))
    }

    // MARK: Uses

    /// Sets the apps that are used in this way; all others are not.
    private mutating func setUses(_ use: Use, _ ids: Set<AppID>) {
        let apps = Set(ids.compactMap { knownApps.index(of: $0) })
        for app in knownApps.sorted(apps.symmetricDifference(used[use] ?? [])) {
            change(app) { machine, _ in machine.assertions.report(use, apps.contains(app)) }
            shared.reconciles.appendOnce(app)
        }
        used[use] = apps
    }

    /// Looks again at all apps that are used: the consequence may have changed.
    mutating func reconcileUsed() {
        for use in Use.allCases {
            for app in knownApps.sorted(used[use] ?? []) { shared.reconciles.appendOnce(app) }
        }
    }

    // MARK: Start and stop

    /// Launches what is to run from the start, in the order of the ids: of those for the foreground the last gets it.
    private mutating func start() {
        defer { hasLaunchedAtStart = true }
        guard !isShuttingDown else { return }
        daemonPhase = .running
        guard !hasLaunchedAtStart else { return }
        let starting = knownApps.sortedIndexes { $0.policy.launchAtStart != nil }
        let foreground = starting.filter { knownApps[$0].policy.launchAtStart == .foreground }
            .suffix(settings.foregroundLimit)
        for app in starting {
            if foreground.contains(app) { putInForeground(app, reason: .boot) } else { want(app, reason: .boot) }
        }
    }

    /// Redoes operations that the previous daemon may not have completed. An app that was launched again meanwhile is new. An app
    /// that has ended and has no manifest any more is forgotten.
    private mutating func resumeRestored() {
        for app in knownApps.sortedIndexes {
            if knownApps[app].isToBeForgotten {
                remove(app)
                continue
            }
            change(app) { machine, shared in
                // In a valid record no scene is gone and not forgotten; such a scene would keep its app running.
                machine.forgetClosedScenes(&shared)
                guard machine.isRunning, machine.launch.isForeign else { return }
                machine.awaitReconnection(&shared)
                machine.repeatPendingOperation(&shared)
                shared.reconciles.appendOnce(app)
            }
        }
        resumeReclaim()
    }

    private mutating func shutDown() {
        if !isShuttingDown { daemonPhase = .shuttingDown }
        for app in knownApps.sortedIndexes { end(app, atOnce: false, reason: .shutdown) }
        // No look at the memory is waited for.
        if let phase = reclaimer.round?.phase, phase != .ending { endReclaim() }
    }

    private mutating func finishShutDown() {
        guard daemonPhase == .shuttingDown, runningCount == 0 else { return }
        daemonPhase = .finished
        shared.ready.isFinished = true
    }

    /// The longest time that any running app may take to end, when all are asked at the same time.
    public var longestTermination: Duration {
        knownApps.values.filter { $0.isRunning }.map { app in
            let timeouts = app.policy.timeouts
            return timeouts.willResignActive + timeouts.termination + AppMachine.timeAfterKill
        }.max() ?? .zero
    }
}
