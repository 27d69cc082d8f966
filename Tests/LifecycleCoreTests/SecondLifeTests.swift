import LifecycleCore
import Testing

/// What of an app's life is over with its process, and no part of the next one.
@Suite struct SecondLifeTests {
    static let clock = AppID("clock")

    @Test func `an app that was in front in its first life has not been there in its second`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        #expect(world.core.knownApps[Self.clock]?.lastInFront != nil)
        world.ask(.terminate(Self.clock))
        #expect(world.core.knownApps[Self.clock]?.lastInFront == nil)
        world.ask(.launch(Self.clock, background: true))
        _ = world.lines()
        world.give(.message(Self.clock, .hello))
        #expect(!world.lines().contains("clock ← did-enter-background"))
    }

    @Test func `who stopped its first process has not stopped its second`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.give(.outcome(Self.clock, .stoppedByOther))
        world.ask(.kill(Self.clock))
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(!world.lines().contains("resume clock"))
    }

    @Test func `an app that was told to come and was killed is not awaited in front in its second life`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.kill(Self.clock))
        world.silent = [:]
        world.ask(.launch(Self.clock, background: true))
        world.pass(.seconds(30))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `the grace of an app that is killed meanwhile does not run out`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.withholding = [.killed]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.pass(.seconds(4))
        world.ask(.kill(Self.clock))
        _ = world.lines()
        world.pass(.seconds(2))
        #expect(!world.lines().contains("! grace over"))
    }

    @Test func `an app that is killed while it starts, and that the kernel does not let go, keeps nobody waiting`() {
        var world = World(apps: "clock")
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        let kill = world.ask(.kill(Self.clock))
        world.pass(.seconds(1))
        world.give(.outcome(Self.clock, .spawned))
        world.pass(.milliseconds(4_999))
        #expect(world.replies[kill] == nil)
        world.pass(.milliseconds(1))
        #expect(world.replies[kill] != nil)
    }

    @Test func `what an app was being told when it crashed is lost, and whoever waits for it hears so`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.openURL]
        let url = world.ask(.hand(Self.clock, .openURL("lifed:1")))
        let next = world.ask(.hand(Self.clock, .openURL("lifed:2")))
        world.give(.outcome(Self.clock, .exited(.signal(11), othersLeft: false)))
        #expect(world.replies[url] != nil && world.replies[next] != nil)
    }
}
