import Simulation
import Testing

@testable import LifecycleCore

/// What other users, a new configuration and the daemon's own death do to apps that are in the middle of something.
/// The simulation has found most of these.
@Suite struct InterferenceTests {
    static let clock = AppID("clock")

    @Test func `app that another process stopped stays suspended when it is to be in the background`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.machine(.lock))
        world.give(.stoppedByOther, of: Self.clock)
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(!world.lines().contains("resume clock"))
        world.ask(.machine(.unlock))
        #expect(world.lines().contains("resume clock"))
        #expect(world.state("clock") == .active)
    }

    @Test(arguments: [false, true])
    func `running app whose manifest begins to require callbacks is not waited for`(isSuspended: Bool) {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: true))
        if isSuspended { world.pass(.seconds(5)) }
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .active)
        world.ask(.home)
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `an app whose termination timeout passed without a daemon is asked to end, and killed soon`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        let records = world.core.knownApps.keys.compactMap { world.core.record(of: $0) }
        // It was asked before, unless the daemon was killed just before SIGTERM. It takes a while until there is another one.
        world.now = world.now + .seconds(20)
        world.core = Engine(
            restoring: world.core.record, apps: records, settings: Settings(), policy: { _ in Policy() }, at: world.now)
        _ = world.lines()
        world.give(.resumeRestored)
        world.pass(AppMachine.readingTime - .milliseconds(1))
        #expect(world.lines() == ["terminate clock"])
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("kill clock"))
    }

    @Test func `app that lost its channel and its foreground slot is not told of the slot`() {
        let maps = AppID("maps")
        var world = World(apps: "clock", "maps", linked: true)
        world.silent[Self.clock] = [.didFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(maps, background: false))
        let records = world.core.knownApps.keys.sorted().compactMap { world.core.record(of: $0) }
        world.core = Engine(
            restoring: world.core.record, apps: records, settings: Settings(), policy: { _ in Policy() }, at: world.now)
        world.give(.resumeRestored)
        world.give(.reconnected(lastSequence: 2), from: maps)
        world.pass(.seconds(2))
        _ = world.lines()
        world.give(.reconnected(lastSequence: 2), from: Self.clock)
        #expect(!world.lines().contains("clock ← did-become-active"))
    }

    @Test func `home app without a manifest is not restarted`() {
        var settings = Settings()
        settings.homeApp = Self.clock
        var world = World(apps: "clock", settings: settings)
        world.give(.forget(Self.clock))
        _ = world.lines()
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(!world.lines().contains("spawn clock"))
        #expect(world.core.knownApps[Self.clock] == nil)
    }

    @Test func `foreground app behind a lock does not count as suspended`() {
        var settings = Settings()
        settings.homeApp = Self.clock
        settings.suspendedLimit = 1
        var world = World(apps: "clock", "maps", settings: settings)
        world.ask(.launch(AppID("maps"), background: false))
        world.ask(.home)
        world.ask(.machine(.lock))
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
        #expect(world.state("maps") == .suspended)
        // Even when memory is short the home app is not ended, for it would be started again at once.
        world.looks = Array(repeating: .critical, count: 10)
        _ = world.lines()
        world.give(.memory(.veryShort))
        #expect(world.lines().filter { $0.hasPrefix("measure") } == ["measure maps"])
        #expect(world.state("clock") == .suspended)
    }

    @Test func `foreground app behind a lock is reclaimed last`() {
        var world = World(apps: "maps", "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.machine(.lock))
        world.pass(.seconds(5))
        world.ask(.launch(AppID("maps"), background: true))
        world.looks = Array(repeating: .critical, count: 10)
        _ = world.lines()
        world.give(.memory(.veryShort))
        #expect(world.lines().filter { $0.hasPrefix("measure") } == ["measure maps", "measure clock"])
    }

    @Test func `home app that ends while it starts and is launched in the background is in the foreground`() {
        var settings = Settings()
        settings.homeApp = Self.clock
        var world = World(starting: ["clock"], home: Self.clock) { $0.withholding = [.spawned] }
        world.give(.start)
        world.ask(.terminate(Self.clock))
        world.ask(.launch(Self.clock, background: true))
        world.give(.spawned, of: Self.clock)
        #expect(world.core.foreground == [Self.clock])
        #expect(world.state("clock") == .active)
    }

    @Test func `lock is done when no app is in the foreground or on its way there`() {
        var world = World(apps: "maps", "clock", linked: true)
        world.ask(.launch(AppID("maps"), background: false))
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(5))
        world.silent = [AppID("maps"): [.willEnterForeground], Self.clock: [.willResignActive]]
        world.ask(.focus(AppID("maps")))
        let lock = world.ask(.machine(.lock))
        #expect(world.replies[lock] == nil)
        world.pass(.seconds(6))
        #expect(world.core.knownApps.values.allSatisfy { !$0.state.isForeground })
        #expect(world.replies[lock] != nil)
    }

    @Test(arguments: [false, true])
    func `URL that a program got as an argument stays so when its manifest changes`(takesURLs: Bool) {
        var world = World(apps: "clock", linked: true)
        world.withholding = [.spawned]
        var policy = Policy()
        policy.takesURLs = takesURLs
        world.give(.define(Self.clock, policy))
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        #expect(world.core.knownApps[Self.clock]?.argumentURL == (takesURLs ? "lifed:1" : nil))
        policy.takesURLs.toggle()
        world.give(.define(Self.clock, policy))
        world.give(.spawned, of: Self.clock)
        world.give(.hello, from: Self.clock)
        #expect(world.lines().contains("clock ← open-url") == !takesURLs)
        #expect(world.replies.count == 1)
    }

    @Test(arguments: [false, true])
    func `an app that was told to come and is to leave goes back to the background`(isRestarted: Bool) {
        let (home, maps) = (AppID("home"), AppID("maps"))
        var settings = Settings()
        settings.homeApp = home
        settings.foregroundLimit = 3
        var world = World(apps: "home", "maps", "clock", linked: true, settings: settings)
        world.ask(.launch(maps, background: false))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.home)
        settings.foregroundLimit = 1
        if isRestarted { world.restart(settings: settings) } else { world.give(.configure(settings)) }
        _ = world.lines()
        world.give(.done(sequence: world.core.knownApps[Self.clock]?.outbox.lastSequence ?? 0), from: Self.clock)
        let told = world.lines().filter { $0.hasPrefix("clock ←") }
        #expect(told == ["clock ← did-enter-background"])
        world.pass(.seconds(5))
        #expect(world.state("home") == .active)
        #expect(world.state("clock") == .suspended)
    }

    @Test(arguments: [false, true])
    func `app whose keeper was killed is killed as a failure, and started again`(isSuspended: Bool) {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.restart = .onFailure
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        if isSuspended { world.ask(.suspend(Self.clock)) }
        _ = world.lines()
        world.give(.keeperEnded, of: Self.clock)
        #expect(world.lines().contains("kill clock"))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .keeperEnded)
        world.pass(.seconds(60))
        #expect(world.core.knownApps[Self.clock]?.isRunning == true)
    }

    @Test func `app whose keeper was killed while it ends has ended for the first reason`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.give(.keeperEnded, of: Self.clock)
        #expect(world.lines().contains("kill clock"))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
    }

    @Test func `app that is to run again after its end does, if its keeper is killed meanwhile`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.ask(.deliver(Self.clock, .performTask(kind: "fetch", payload: "")))
        world.give(.keeperEnded, of: Self.clock)
        #expect(world.state("clock") != .notRunning)
    }

    @Test func `app that is to end before its stop is confirmed does not become suspended`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        world.withholding = [.stopped]
        world.give(.resumedByOther, of: Self.clock)
        let sleep = world.ask(.suspend(Self.clock))
        #expect(world.replies[sleep] == nil)
        world.ask(.terminate(Self.clock))
        #expect(world.replies[sleep] == .refused(.superseded(Self.clock, by: .terminate)))
    }

    @Test func `a lock is done when no scene is on its way into sight either`() throws {
        let maps = AppID("maps")
        var world = World(apps: "maps", linked: true)
        world.linked.insert(Self.clock)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(maps, background: false))
        world.silent[Self.clock] = [.sceneWillEnterForeground]
        world.ask(.focus(Self.clock))
        let lock = world.ask(.machine(.lock))
        #expect(world.replies[lock] == nil)
        world.pass(.seconds(5))
        #expect(world.replies[lock] != nil)
        #expect(world.state("clock")?.isForeground == false)
    }

    @Test func `scenes of an app that runs without them by now are not waited for`() throws {
        let main = try #require(SceneID("main"))
        var world = World(apps: "maps", linked: true)
        world.linked.insert(Self.clock)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.stubborn = [Self.clock]
        world.ask(.terminate(Self.clock))
        policy.scenes = false
        world.give(.define(Self.clock, policy))
        let opening = world.ask(.openScene(Self.clock, SceneOpening(scene: main), background: true))
        #expect(world.replies[opening] == .refused(.noScenes(Self.clock)))
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        let early = world.ask(.openScene(Self.clock, SceneOpening(scene: main), background: true))
        policy.scenes = false
        world.give(.define(Self.clock, policy))
        world.pass(.seconds(5))
        #expect(world.state("clock")?.isAlive == true)
        #expect(world.replies[early] != nil)
        let focus = world.ask(.focusScene(Self.clock, main))
        #expect(world.replies[focus] == .refused(.noScenes(Self.clock)))
    }

    @Test func `closing the scene of a starting home app shows another scene`() throws {
        let main = try #require(SceneID("main"))
        var world = World()
        world.linked = [Self.clock]
        world.withholding = [.spawned]
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        let opening = world.ask(.openScene(Self.clock, SceneOpening(scene: main, info: "old"), background: false))
        var settings = Settings()
        settings.homeApp = Self.clock
        world.give(.configure(settings))
        let closing = world.ask(.closeScene(Self.clock, main))
        #expect(world.replies[opening] == .refused(.superseded(Self.clock, by: .closed)))
        #expect(world.replies[closing]?.name == "done main unattached")
        #expect(world.core.knownApps[Self.clock]?.scenes[main].map { $0.info == nil } == true)
    }

    @Test func `app that ends hears of its scenes when it has answered the callback before`() throws {
        var world = World()
        world.linked = [Self.clock]
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.memoryWarning]
        world.give(.memory(.short))
        let sequence = world.core.knownApps[Self.clock]?.outbox.lastSequence ?? 0
        world.ask(.beginInterruption("call"))
        world.ask(.terminate(Self.clock))
        #expect(!world.lines().contains { $0.hasPrefix("clock ← scene-did-disconnect") })
        world.give(.done(sequence: sequence), from: Self.clock)
        let lines = world.lines()
        #expect(lines.contains { $0.hasPrefix("clock ← scene-did-disconnect") })
        #expect(lines.contains("terminate clock"))
    }

    @Test func `unlock during an interruption leaves the app inactive`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.machine(.lock))
        world.pass(.seconds(5))
        world.ask(.beginInterruption("call"))
        _ = world.lines()
        world.ask(.machine(.unlock))
        #expect(world.state("clock") == .inactive)
        world.ask(.endInterruption("call"))
        #expect(world.state("clock") == .active)
    }
}

extension World {
    /// The next daemon restores the apps, with channels that were kept and on which nothing was lost.
    fileprivate mutating func restart(settings: Settings) {
        let records = core.knownApps.keys.sorted().compactMap { core.record(of: $0) }
        let running = core.knownApps.values.filter(\.isConnected)
        core = Engine(
            restoring: core.record, apps: records, settings: settings, policy: { _ in Policy() }, at: now)
        for app in running { give(.reconnected(lastSequence: app.outbox.lastSequence), from: app.id) }
        give(.resumeRestored)
        give(.start)
    }
}
