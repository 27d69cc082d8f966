import LifecycleCore
import Testing

/// What the session and the machine do to the apps.
@Suite struct MachineTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    func running(_ names: [String]) -> World {
        var world = World(apps: "clock", "maps", linked: true)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    @Test func `URL of a locked session is opened after the unlock`() {
        var world = running(["clock"])
        world.ask(.machine(.lock))
        world.ask(.deliver(Self.clock, .openURL("x:")))
        #expect(world.replies[3]?.name == "refused foregroundBlocked")
        #expect(!world.lines().contains("clock ← open-url"))
        world.ask(.machine(.unlock))
        #expect(world.lines().contains("clock ← open-url"))
    }

    @Test func `sleep request is answered when the apps are suspended, and wake restores the foreground`() {
        var world = running(["maps", "clock"])
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.machine(.sleep))
        #expect(world.replies[3] == nil)
        world.give(.done(sequence: 5), from: Self.clock)
        #expect(world.replies[3]?.name == "done")
        #expect(world.state("clock") == .suspended)
        world.ask(.machine(.wake))
        #expect(world.state("clock") == .active)
        #expect(world.core.knownApps[Self.clock]?.reason == .awake)
    }

    @Test func `wake before the sleep is answered restores the foreground`() {
        var world = running(["clock"])
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.machine(.sleep))
        world.silent = [:]
        world.ask(.machine(.wake))
        #expect(world.replies[2]?.name == "refused superseded")
        world.give(.done(sequence: 5), from: Self.clock)
        #expect(world.state("clock") == .active)
    }

    @Test func `background activity does not delay the sleep of the machine`() {
        var world = World(apps: "clock", "maps", linked: true)
        var policy = Policy()
        policy.backgroundModes = ["audio"]
        world.give(.define(Self.clock, policy))
        policy.suspend = .never
        world.give(.define(Self.maps, policy))
        world.ask(.launch(Self.maps, background: false))
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginActivity(1, mode: "audio"), from: Self.clock)
        world.ask(.machine(.sleep))
        #expect(world.replies[3]?.name == "done")
        #expect(world.state("clock") == .background)
    }

    @Test func `unlock is done at once if the seat is switched or an interruption lasts`() {
        var world = running(["clock"])
        world.ask(.machine(.lock))
        world.ask(.beginInterruption("call"))
        #expect(world.replies[world.ask(.machine(.unlock))]?.name == "done")
        world.ask(.endInterruption("call"))
        #expect(world.state("clock") == .active)
        world.ask(.machine(.switchAway))
        world.ask(.machine(.lock))
        #expect(world.replies[world.ask(.machine(.unlock))]?.name == "done")
        let focus = world.ask(.focus(Self.clock))
        #expect(world.replies[focus] == .refused(.foregroundBlocked(Self.clock, by: .switchedAway)))
    }

    @Test func `of two reasons why nothing is in sight the first is given`() {
        var world = running(["clock"])
        world.ask(.machine(.switchAway))
        world.ask(.machine(.lock))
        let focus = world.ask(.focus(Self.clock))
        #expect(world.replies[focus] == .refused(.foregroundBlocked(Self.clock, by: .switchedAway)))
    }

    @Test func `end of one of two interruptions is done at once`() {
        var world = running(["clock"])
        for name in ["call", "alarm"] { world.ask(.beginInterruption(name)) }
        #expect(world.replies[world.ask(.endInterruption("call"))]?.name == "done")
        #expect(world.state("clock") == .inactive)
        #expect(world.replies[world.ask(.endInterruption("alarm"))]?.name == "done")
        #expect(world.state("clock") == .active)
    }

    @Test(arguments: [
        (Request.beginInterruption("call"), Request.endInterruption("call")), (.machine(.lock), .machine(.unlock)),
    ])
    func `end of what keeps apps from being active is done though one of them fails`(begin: Request, end: Request) {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "clock", "maps", linked: true, settings: settings)
        world.silent[Self.clock] = [.didBecomeActive]
        world.ask(.launch(Self.clock, background: false))
        world.withholding = [.spawned]
        world.ask(.launch(Self.maps, background: false))
        world.ask(begin)
        world.silent = [:]
        world.answerAll(Self.clock)
        let request = world.ask(end)
        world.give(.spawnFailed(.noSuchProgram), of: Self.maps)
        #expect(world.state("clock") == .active)
        #expect(world.replies[request] == .done(nil))
    }

    @Test func `lock waits for an app that starts, and for an app that leaves the foreground`() {
        var world = running(["clock"])
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.home)
        let lock = world.ask(.machine(.lock))
        #expect(world.replies[lock] == nil)
        world.answer(Self.clock)
        #expect(world.replies[lock]?.name == "done")
        world.ask(.machine(.unlock))
        world.withholding = [.spawned]
        world.ask(.launch(Self.maps, background: false))
        let next = world.ask(.machine(.lock))
        #expect(world.replies[next] == nil)
        world.give(.spawned, of: Self.maps)
        #expect(world.replies[next]?.name == "done")
    }

    @Test func `lock waits for each of two foreground apps`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "clock", "maps", linked: true, settings: settings)
        for name in ["maps", "clock"] { world.ask(.launch(AppID(name), background: false)) }
        world.silent[Self.clock] = [.willResignActive]
        let lock = world.ask(.machine(.lock))
        #expect(world.state("maps") == .suspended)
        #expect(world.replies[lock] == nil)
        world.answer(Self.clock)
        #expect(world.replies[lock]?.name == "done")
    }

    @Test func `sleep request waits for did-enter-background of an app that is never suspended`() {
        var world = running(["clock"])
        var policy = Policy()
        policy.suspend = .never
        world.give(.define(Self.clock, policy))
        world.silent[Self.clock] = [.didEnterBackground]
        let sleep = world.ask(.machine(.sleep))
        #expect(world.replies[sleep] == nil)
        world.answer(Self.clock)
        #expect(world.replies[sleep]?.name == "done")
    }
}
