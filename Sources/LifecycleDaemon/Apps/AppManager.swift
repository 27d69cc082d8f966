import AppChannel
import Configuration
import LifecycleCore
import Processes
import Systemd

/// The core with everything that it acts on: what apps there are, and their processes.
final class AppManager {
    var catalog = AppCatalog()
    let processes: AppProcesses
    let driver: CoreDriver
    let channels: AppChannels
    let keeper: StateKeeper
    let memory: MemoryWatch
    let resources: StateResources
    private let givingBack: GivingBack
    private var reclaimsWhenSuspended = false
    private let launcher: AppLauncher
    let exits: LastExits
    /// How the apps ended that are no longer known, and which launches failed.
    let ended: EndedApps
    let schedules: Schedules
    /// What can be launched without a manifest; nil for nothing.
    private(set) var entries: DesktopEntries?
    let log: LifecycleLog
    let dates = ClockDifference()
    /// What happened lately, and how often what has.
    private(set) var past = Past()
    private(set) var defaults = Policy()
    /// Which app opens what several could.
    private(set) var defaultApps: [String: String] = [:]
    /// The daemon's own requests, which are numbered from the other end than its clients'.
    private var ownWaiting: [RequestID: () -> Void] = [:]
    private var ownRequests: UInt64 = 0
    /// The login session that is followed; kept for a successor.
    var session = FollowedSession() {
        didSet { if session != oldValue { keeper.keep(.session, session.saved) } }
    }
    /// Which programs that somebody else has started are adopted.
    private(set) var adoptRules: [AdoptRule] = []
    /// The processes that are about to be adopted.
    var candidates: [AppID: AdoptionCandidate] = [:]
    /// Whether the apps of a daemon that is gone are being taken over.
    var isTakingOver = false

    /// Told of every answer of the core.
    var onReply: (RequestID, LifecycleCore.Reply) -> Void = { _, _ in }
    /// Told of every change of an app's state.
    var onTransition: (LifecycleCore.Transition) -> Void = { _ in }
    /// Told of every change of a scene's state.
    var onSceneTransition: (LifecycleCore.SceneTransition) -> Void = { _ in }
    /// Told when the last app is gone after ``shutDown()``.
    var onFinished: () -> Void = {}

    init(
        loop: EventLoop, launcher: AppLauncher, keeper: StateKeeper, exits: LastExits, ended: EndedApps,
        runs: AppRecords, entries: DesktopEntries?, log: LifecycleLog
    ) throws(SystemdError) {
        let driver = try CoreDriver(loop: loop)
        self.driver = driver
        self.launcher = launcher
        self.keeper = keeper
        self.exits = exits
        self.ended = ended
        self.entries = entries
        schedules = try Schedules(loop: loop, records: runs) { driver.give(.wake($0, kind: $1)) }
        self.log = log
        processes = try AppProcesses(loop: loop) { driver.give(.outcome($0, $1)) }
        channels = AppChannels(loop: loop, log: log) { driver.give(.message($0, $1)) }
        memory = try MemoryWatch(loop: loop, log: log.log, processes: processes) { driver.give($0) }
        resources = try StateResources(loop: loop, log: log.log, processes: processes)
        givingBack = try GivingBack(loop: loop, log: log, processes: processes)
        driver.perform = { [weak self] effect in self?.perform(effect) }
        driver.keep = { keeper.keep($0, of: $1) }
        processes.onChange = { keeper.keep(.launch, $1.saved($0)) }
        processes.onEnd = { [resources] in
            resources.forget($0)
            DescriptorStore.discard(DescriptorStore.name(of: $0), log: log.log)
        }
        resources.onChange = { keeper.keep(.resources, $1.saved($0)) }
        channels.isAwaited = { driver.core.knownApps[$0]?.isAway ?? false }
        channels.isFirstHelloDue = { id in
            guard let app = driver.core.knownApps[id] else { return false }
            return app.state.isAlive && !app.isLinked && app.policy.callbacks != .none
        }
        channels.onReturn = { [weak self] in self?.keepDescriptors(of: $0) }
        channels.onChange = { keeper.keep(.channel, $1.saved($0)) }
        keeper.everything = { [weak self] in self?.everythingToKeep ?? [] }
    }

    /// What the core knows.
    var core: Lifecycle { driver.core }

    /// The time on the core's clock.
    var now: Instant { driver.now }

    // MARK: Inputs

    /// Takes a configuration, the first or another one. Running apps stay as they are.
    func take(_ configuration: LoadedConfiguration) {
        let (settings, gone) = describe(configuration)
        for (id, definition) in catalog.definitions where !gone.contains(id) {
            driver.give(.define(id, definition.policy))
            recallExit(of: id)
        }
        for id in gone.sorted() { driver.give(.forget(id)) }
        driver.give(.configure(settings))
    }

    /// Takes note of a configuration without telling the core.
    ///
    /// - Returns: The core's settings, and the apps that nothing describes any more.
    func describe(_ configuration: LoadedConfiguration) -> (LifecycleCore.Settings, gone: Set<AppID>) {
        let settings = LifecycleCore.Settings(configuration.settings)
        defaults.timeouts = settings.timeouts
        defaults.onExit = ExitSuccessor(configuration.settings.onExit)
        defaultApps = configuration.settings.defaults
        entries?.terminal = configuration.settings.terminal
        adoptRules = configuration.settings.adopt
        defaults.holdLimit = configuration.settings.limits.tasks
        processes.table.helpers.names = configuration.settings.helpers
        processes.stopTimeout = configuration.settings.timeouts.stop
        memory.use(configuration.settings.memory)
        resources.use(
            configuration.settings.resources, processes: ProcessLimit(configuration.settings.limits.processes))
        schedules.take(configuration.manifests)
        reclaimsWhenSuspended = configuration.settings.memory.reclaimWhenSuspended
        let defaults = defaults
        let gone = catalog.take(configuration.manifests, defaults: defaults) { [entries] id in
            guard case .entry(let entry) = entries?.find(id.name) else { return nil }
            return AppDefinition(entry: entry, defaults: defaults)
        }
        return (settings, gone)
    }

    /// Takes note of an ad-hoc app without telling the core.
    func insert(_ definition: AppDefinition, as id: AppID) { catalog.insert(definition, as: id) }

    /// Makes an ad-hoc app known, under an id that no other app has.
    func define(_ id: AppID, command: [String], user: AppDefinition.User, edit: (inout AppDefinition) -> Void) {
        var definition = AppDefinition(adHoc: command, user: user, defaults: defaults)
        edit(&definition)
        catalog.insert(definition, as: id)
        keeper.keep(.definition, definition.saved(id))
        driver.give(.define(id, definition.policy))
    }

    /// Gives each app that is launched from now on a cgroup. Called before the first launch.
    func use(_ cgroups: CgroupSubtree?) {
        processes.cgroups = cgroups
        resources.begin(with: cgroups)
    }

    /// Leaves the place where the apps were, once they are gone.
    func leave() {
        processes.table.terminateHelpers()
        processes.cgroups?.leave()
    }

    func start() {
        driver.give(.start)
        schedules.start()
    }

    func shutDown() {
        schedules.stop()
        driver.give(.shutDown)
    }

    /// The wall clock was set, or the time zone is another one.
    func scheduleClockChanged() { schedules.clockChanged() }

    func request(_ id: RequestID, _ request: Request) { driver.give(.request(id, request)) }

    /// Passes on which apps are used in this way.
    func take(_ use: Use, of ids: Set<AppID>) { driver.give(.use(use, ids)) }

    /// Tells the core what has happened to the machine; `done` is called when the apps have done what follows.
    func tell(_ event: MachineEvent, done: @escaping () -> Void = {}) {
        ownRequests += 1
        let id = RequestID(UInt64.max - ownRequests)
        ownWaiting[id] = done
        driver.give(.request(id, .machine(event)))
    }

    private func takeOwn(_ id: RequestID) -> Bool {
        guard let done = ownWaiting.removeValue(forKey: id) else { return false }
        done()
        return true
    }

    // MARK: Effects

    private func perform(_ effect: Effect) {
        switch effect {
        case .spawn(let id): spawn(id)
        case .stop(let id): if isTakingOver { processes.stopSoon(id) } else { processes.stop(id) }
        case .resume(let id):
            givingBack.end(id)
            processes.resume(id)
        case .terminate(let id) where isToBeLetGo(id): letGo(id)
        case .terminate(let id):
            if !wasAskedToEnd(id) { processes.terminate(id, catalog[id]?.stopSignal ?? .terminate) }
        case .kill(let id): processes.kill(id)
        case .deliver(let id, let delivery):
            let time = delivery.launch?.previous.map { secondsSinceEpoch(of: $0, id) }
            let scene = delivery.scene.flatMap { core.knownApps[id]?.scenes[$0.scene] }
            let message = CallbackMessage(delivery, now: now, previousTime: time, scene: scene)
            channels.send(message, sequence: delivery.sequence, to: id)
        case .answerHold(let id, let number, nil): grant(number, of: id)
        case .answerHold(let id, let number, let refusal?):
            channels.send(.refused(AssertionID(number), reason: RefusalReason(refusal)), to: id)
        case .tellTimeLeft(let id, let end):
            channels.send(.timeLeft(milliseconds: end.map(millisecondsLeft)), to: id)
        case .expireTask(let id, let number, let deadline):
            let time = deadline.duration(since: now).wholeMilliseconds
            channels.send(.expireTask(AssertionID(number), deadlineMilliseconds: time), to: id)
        case .measureMemory(let id): memory.measure(id)
        case .lookAtMemory(let id, let atOnce): memory.look(after: id, atOnce: atOnce)
        case .transition(let transition):
            share(transition)
            if transition.to == .notRunning {
                channels.close(transition.app)
                noteExit(of: transition.app)
                endAdoption(of: transition.app)
            }
            let pid = processes.lastPID(of: transition.app)
            past.note(transition, pid: pid)
            log.write(transition, pid: pid)
            onTransition(transition)
        case .sceneTransition(let transition):
            log.write(transition, pid: processes.lastPID(of: transition.app))
            onSceneTransition(transition)
        case .decision(let decision):
            if case .launchFailed(let id, let why) = decision {
                channels.close(id)
                endAdoption(of: id)
                noteFailedLaunch(of: id, why)
            }
            if case .reclaimed(let id, let account) = decision { ended.note(account, of: id) }
            let pid = decision.app.flatMap(processes.lastPID)
            past.note(decision, pid: pid, at: now)
            log.write(decision, pid: pid)
        case .reply(let id, let reply): if !takeOwn(id) { onReply(id, reply) }
        case .forgotten(let id, let exit, let reclaimed):
            if let exit { noteEnd(of: id, exit, reclaimed) }
            catalog.remove(id)
            exits.forget(id)
            processes.forgetLastPID(of: id)
            launcher.removeEmptyStateDirectory(of: id)
            keeper.retryWithLess()
        case .finished:
            keeper.end()
            ended.leave()
            onFinished()
        }
    }

    /// Tells the app that its task or activity holds it, and a task how long.
    private func grant(_ number: UInt64, of id: AppID) {
        let isTask = core.knownApps[id]?.holds.contains { $0.number == number && $0.kind == .task } ?? false
        let end = isTask ? core.taskTimeEnd(of: id) : nil
        channels.send(.granted(AssertionID(number), timeLeftMilliseconds: end.map(millisecondsLeft)), to: id)
    }

    private func millisecondsLeft(until end: Instant) -> Int64 {
        end > now ? end.duration(since: now).wholeMilliseconds : 0
    }

    /// Gives the app what its new state entitles it to, and takes what it does not need there.
    private func share(_ transition: LifecycleCore.Transition) {
        let id = transition.app
        resources.enter(transition.to, id)
        givingBack.end(id)
        if transition.to == .inactive || transition.to == .active { memory.expectUse() }
        let givesBack = catalog[id]?.reclaimWhenSuspended ?? reclaimsWhenSuspended
        if transition.to == .suspended, givesBack { givingBack.begin(id) }
    }

    /// Has the service manager keep what a successor cannot get otherwise.
    func keepDescriptors(of id: AppID) {
        guard let launch = processes.launch(of: id) else { return }
        DescriptorStore.keep(
            [launch.pidfd, channels.number(of: id)].compactMap { $0 }, for: launch.token, log: log.log)
    }

    /// Takes the connection of a process of an app that has lost its channel.
    func admit(_ connection: consuming Descriptor, of process: ProcessID) {
        if case .app(let id) = processes.owner(of: process) { channels.admit(connection, of: id) }
    }

    private func spawn(_ id: AppID) {
        if isTakingOver, processes.isRunning(id) { return driver.give(.outcome(id, .spawned)) }
        if let objection = keeper.makeRoom() {
            return driver.give(.outcome(id, .spawnFailed(.unrecorded(objection))))
        }
        if isToBeAdopted(id) { return takeIn(id) }
        guard let definition = catalog[id] else {
            return driver.give(.outcome(id, .spawnFailed(.command("nothing describes it any more"))))
        }
        do throws(LaunchError) {
            let output = AppOutput(id, usesJournal: launcher.usesJournal)
            let channel = definition.policy.callbacks == .none ? nil : channels.open(id)
            let request = try launcher.request(
                for: id, definition, launch: launchFields(of: id), url: core.knownApps[id]?.argumentURL,
                output: output, channel: channel)
            processes.spawn(id, request, as: definition, launched: core.knownApps[id]?.launched) {
                keepDescriptors(of: id)
                return keeper.objection
            }
            extendLifetime(output)
            extendLifetime(channel)
        } catch {
            driver.give(.outcome(id, .spawnFailed(StartFailure(error))))
        }
    }
}

extension LifecycleCore.Settings {
    init(_ settings: Configuration.Settings) {
        self.init()
        frontLimit = settings.frontLimit
        homeApp = settings.homeApp.map { AppID($0) }
        suspendedLimit = settings.memory.suspendedLimit
        keptUses = KeptUses(settings)
        timeouts.willResignActive = settings.timeouts.willResignActive
        timeouts.didEnterBackground = settings.timeouts.didEnterBackground
        timeouts.willTerminate = settings.timeouts.willTerminate
        timeouts.background = settings.timeouts.background
        timeouts.launch = settings.timeouts.launch
        timeouts.callback = settings.timeouts.callback
        timeouts.task = settings.timeouts.task
        timeouts.taskExpiration = settings.timeouts.taskExpiration
    }
}
