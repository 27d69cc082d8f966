import LifecycleCore
import Testing

/// What other people, a new configuration and the daemon's own death do to apps that are in the middle of something.
/// The simulation has found all of these but the last, which was read in the code.
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
}
