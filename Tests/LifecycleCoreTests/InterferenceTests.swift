import LifecycleCore
import Testing

/// What other people, a new configuration and the daemon's own death do to apps that are in the middle of something.
/// The simulation has found most of these.
@Suite struct InterferenceTests {
    static let clock = AppID("clock")

    @Test func `an app that somebody else has stopped sleeps on when it is wanted out of sight`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.machine(.lock))
        world.give(.outcome(Self.clock, .stoppedByOther))
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
    func `an app of which callbacks are required while it runs is not waited for`(isSuspended: Bool) {
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

    @Test func `an app that is asked to end by a successor has all of its grace`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        let records = world.core.knownApps.keys.compactMap { world.core.record(of: $0) }
        // The daemon was killed before it could send SIGTERM, and it takes a while until there is another one.
        world.now = world.now + .seconds(20)
        world.core = Lifecycle(
            restoring: world.core.record, apps: records, settings: Settings(), policy: { _ in Policy() }, at: world.now)
        _ = world.lines()
        world.give(.takeOver)
        world.pass(.milliseconds(4_999))
        #expect(world.lines() == ["terminate clock"])
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("kill clock"))
    }

    @Test func `an app that lost its channel and its place before it heard of it is not told of the place`() {
        let maps = AppID("maps")
        var world = World(apps: "clock", "maps", linked: true)
        world.silent[Self.clock] = [.didFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(maps, background: false))
        let records = world.core.knownApps.keys.sorted().compactMap { world.core.record(of: $0) }
        world.core = Lifecycle(
            restoring: world.core.record, apps: records, settings: Settings(), policy: { _ in Policy() }, at: world.now)
        world.give(.takeOver)
        world.give(.message(maps, .back(lastSequence: 2)))
        world.pass(.seconds(2))
        _ = world.lines()
        world.give(.message(Self.clock, .back(lastSequence: 2)))
        #expect(!world.lines().contains("clock ← did-become-active"))
    }

    @Test func `a home app that nobody describes any more is not started again when it ends`() {
        var settings = Settings()
        settings.homeApp = Self.clock
        var world = World(apps: "clock", settings: settings)
        world.give(.forget(Self.clock))
        _ = world.lines()
        world.give(.outcome(Self.clock, .exited(.signal(11), othersLeft: false)))
        #expect(!world.lines().contains("spawn clock"))
        #expect(world.core.knownApps[Self.clock] == nil)
    }

    @Test func `what is in front behind a lock is none of the suspended apps that are too many`() {
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
        world.give(.memoryPressure(.critical, "very short"))
        #expect(world.lines().filter { $0.hasPrefix("measure") } == ["measure maps"])
        #expect(world.state("clock") == .suspended)
    }

    @Test func `what is in front behind a lock is ended for its memory after all others`() {
        var world = World(apps: "maps", "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.machine(.lock))
        world.pass(.seconds(5))
        world.ask(.launch(AppID("maps"), background: true))
        world.looks = Array(repeating: .critical, count: 10)
        _ = world.lines()
        world.give(.memoryPressure(.critical, "very short"))
        #expect(world.lines().filter { $0.hasPrefix("measure") } == ["measure maps", "measure clock"])
    }

    @Test func `a home app that is to end before it runs, and is wanted out of sight then, is in front all the same`() {
        var settings = Settings()
        settings.homeApp = Self.clock
        var world = World(starting: ["clock"], home: Self.clock) { $0.withholding = [.spawned] }
        world.give(.start)
        world.ask(.terminate(Self.clock))
        world.ask(.launch(Self.clock, background: true))
        world.give(.outcome(Self.clock, .spawned))
        #expect(world.core.front == [Self.clock])
        #expect(world.state("clock") == .active)
    }

    @Test func `a lock is done when nobody is in sight, those on their way there included`() {
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
    func `what an app was started with is what it took when it was started`(takesURLs: Bool) {
        var world = World(apps: "clock", linked: true)
        world.withholding = [.spawned]
        var policy = Policy()
        policy.takesURLs = takesURLs
        world.give(.define(Self.clock, policy))
        world.ask(.hand(Self.clock, .openURL("lifed:1")))
        #expect(world.core.knownApps[Self.clock]?.argumentURL == (takesURLs ? "lifed:1" : nil))
        policy.takesURLs.toggle()
        world.give(.define(Self.clock, policy))
        world.give(.outcome(Self.clock, .spawned))
        world.give(.message(Self.clock, .hello))
        #expect(world.lines().contains("clock ← open-url") == !takesURLs)
        #expect(world.replies.count == 1)
    }

    @Test func `an app out of sight stays there while something interrupts`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.machine(.lock))
        world.pass(.seconds(5))
        world.ask(.beginInterruption("call"))
        _ = world.lines()
        world.ask(.machine(.unlock))
        #expect(!world.lines().contains { $0.contains("active") || $0.contains("foreground") })
        world.ask(.endInterruption("call"))
        #expect(world.state("clock") == .active)
    }
}
