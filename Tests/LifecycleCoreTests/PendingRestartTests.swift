import LifecycleCore
import Testing

/// What users and schedules do with an app that has ended by itself and waits to be started again.
@Suite struct PendingRestartTests {
    static let clock = AppID("clock")
    static let crash = Outcome.exited(.signal(11), othersLeft: false)

    func world(scenes: Bool = false) -> World {
        var world = World(apps: "clock", "maps")
        var policy = Policy()
        policy.restart = .always
        policy.scenes = scenes
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        return world
    }

    static let requests: [Request] = [
        .launch(clock, background: false), .launch(clock, background: true), .deliver(clock, .openURL("lifed:1")),
        .openScene(clock, SceneOpening(), background: false),
    ]

    @Test(arguments: requests)
    func `request for an app clears its failures`(request: Request) {
        var world = world(scenes: true)
        for _ in 0..<2 { world.give(Self.crash, of: Self.clock) }
        #expect(world.core.knownApps[Self.clock]?.restart.failures == 2)
        world.ask(request)
        #expect(world.core.knownApps[Self.clock]?.restart.failures == 0)
        #expect(world.core.deadline(.restart, of: Self.clock) == nil)
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.isRunning == true)
    }

    @Test func `home cancels the restart in the foreground`() {
        var world = world()
        for _ in 0..<2 { world.give(Self.crash, of: Self.clock) }
        world.ask(.home)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .background)
        #expect(world.core.foreground.isEmpty)
    }

    @Test func `app that is woken while it ends comes back in the background`() {
        var world = world()
        world.stubborn = [Self.clock]
        world.give(.exited(.signal(11), othersLeft: true), of: Self.clock)
        #expect(world.state("clock") == .terminating)
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        world.give(.gone, of: Self.clock)
        #expect(world.state("clock") == .background)
        world.pass(.seconds(90))
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.foreground.isEmpty)
    }

    // MARK: A start that failed

    @Test func `failed start leaves no deadline for the next start`() {
        for end in [Request.terminate(Self.clock), .kill(Self.clock)] {
            var world = World(apps: "clock")
            world.withholding = [.spawned, .killed]
            world.ask(.launch(Self.clock, background: false))
            world.ask(end)
            world.give(.spawnFailed(.noSuchProgram), of: Self.clock)
            #expect(world.lines().contains("! launch failed"))
            #expect(world.core.nextDeadline == nil)
            #expect(world.core.knownApps[Self.clock]?.reason == .launchFailed)
            world.withholding = []
            world.ask(.launch(Self.clock, background: false))
            #expect(world.state("clock") == .active)
        }
    }

    @Test(arguments: [Request.terminate(clock), .kill(clock)])
    func appThatIsEndedWhileItStartsIsNotLaunchedAgainWhenTheStartFails(end: Request) {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.withholding = [.spawned, .killed]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        let request = world.ask(end)
        world.give(.spawnFailed(.noSuchProgram), of: Self.clock)
        #expect(world.replies[request]?.doneApp == Self.clock)
        world.pass(.seconds(100))
        #expect(world.core.knownApps[Self.clock]?.isRunning == false)
        #expect(world.core.knownApps[Self.clock]?.restart == .steady)
    }

    @Test func `a launch in the background that failed says why`() {
        var world = World(apps: "clock")
        world.broken = [Self.clock]
        let launch = world.ask(.launch(Self.clock, background: true))
        #expect(world.replies[launch] == .refused(.launchFailed(Self.clock, .noSuchProgram)))
    }

    @Test func `failed start leaves no request to stay awake for the next start`() {
        for callbacks in [CallbackPolicy.auto, .none] {
            var world = World(apps: "clock")
            var policy = Policy()
            policy.callbacks = callbacks
            world.give(.define(Self.clock, policy))
            world.withholding = [.spawned]
            world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
            world.ask(.resume(Self.clock))
            world.give(.spawnFailed(.noSuchProgram), of: Self.clock)
            world.withholding = []
            world.ask(.launch(Self.clock, background: true))
            world.pass(.seconds(5))
            #expect(world.state("clock") == .suspended)
        }
    }

    @Test func `a scene that no process has had goes with the start that failed`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.broken = [Self.clock]
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        #expect(world.scenes("clock") == [:])
    }
}
