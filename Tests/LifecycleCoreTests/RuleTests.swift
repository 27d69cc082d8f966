import LifecycleCore
import Simulation
import Testing

/// The rules beside the table of the life cycle, which no row of it shows.
@Suite struct RuleTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    func running(_ names: String..., linked: Bool = true) -> World {
        var world = World(apps: "clock", "maps", linked: linked)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    // MARK: Leaving the foreground

    /// One record then has the end of the foreground and the stop.
    @Test func `app without background time is stopped in the turn in which it leaves the foreground`() {
        var world = running("clock", linked: false)
        var policy = Policy()
        policy.callbacks = .none
        policy.timeouts.background = .zero
        world.give(.define(Self.clock, policy))
        let home = world.ask(.home)
        #expect(
            world.lines() == [
                "clock: active → inactive (home)", "clock: inactive → background (home)", "reply \(home) done",
                "stop clock", "clock: background → suspended (idle)",
            ])
    }

    // MARK: Launching what runs

    @Test func `each launch has to be answered anew`() {
        var world = World()
        var policy = Policy()
        policy.callbacks = .required
        world.linked = [Self.clock]
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.silent[Self.clock] = [.didFinishLaunching]
        let launch = world.ask(.launch(Self.clock, background: false))
        #expect(world.state("clock") == .inactive)
        #expect(world.replies[launch] == nil)
    }

    @Test func `launch of a suspended app resumes it with the new reason`() {
        var world = running("clock", "maps")
        world.ask(.launch(Self.clock, background: false))
        #expect(
            world.lines().filter { $0.contains("clock") } == [
                "resume clock",
                "clock: suspended → background (launch)",
                "clock ← will-enter-foreground",
                "clock: background → inactive (launch)",
                "clock: inactive → active (launch)",
                "clock ← did-become-active",
            ])
        #expect(world.core.foreground == [Self.clock])
    }

    @Test func `launching an app in the foreground changes nothing, in the background neither`() {
        for background in [false, true] {
            var world = running("clock")
            let launch = world.ask(.launch(Self.clock, background: background))
            #expect(world.lines() == ["reply \(launch) done"])
            #expect(world.state("clock") == .active)
        }
    }

    @Test func `app that was launched in the background gets will-enter-foreground`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        _ = world.lines()
        world.ask(.focus(Self.clock))
        let told = world.lines().filter { $0.hasPrefix("clock ←") }
        #expect(told == ["clock ← will-enter-foreground", "clock ← did-become-active"])
    }

    // MARK: Ending

    @Test func `terminated in the background, with nothing but the signal`() {
        var world = running("clock", "maps")
        world.ask(.resume(Self.clock))
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        #expect(
            world.lines().prefix(2) == ["clock: background → terminating (terminate)", "terminate clock"])
    }

    @Test func `a shutdown asks like a user does, each app by its state`() {
        var world = running("clock", "maps")
        world.give(.shutDown)
        #expect(
            world.lines() == [
                "clock: suspended → terminating (shutdown)",
                "maps ← will-resign-active",
                "terminate clock",
                "maps: active → inactive (shutdown)",
                "maps: inactive → terminating (shutdown)",
                "terminate maps",
                "! clock exited (shutdown)",
                "clock: terminating → notRunning (shutdown)",
                "! maps exited (shutdown)",
                "maps: terminating → notRunning (shutdown)",
                "finished",
            ])
    }

    @Test func `an app that is ending is told nothing more`() {
        var world = running("clock")
        world.stubborn = [Self.clock]
        world.ask(.terminate(Self.clock))
        world.ask(.launch(Self.maps, background: false))
        world.ask(.beginInterruption("call"))
        world.ask(.home)
        _ = world.lines()
        world.pass(.milliseconds(4999))
        #expect(!world.lines().contains { $0.hasPrefix("clock ←") })
    }

    @Test func `leaving the front, for however long, ends no app`() {
        var world = running("clock", "maps")
        world.pass(.seconds(3600))
        #expect(world.state("clock") == .suspended)
        #expect(!world.lines().contains { $0.hasPrefix("terminate") || $0.hasPrefix("kill") })
    }

    // MARK: Waiting for the app

    @Test func `app is not stopped before its answer to did-enter-background`() {
        var world = running("clock")
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.home)
        world.pass(.milliseconds(4999))
        #expect(world.state("clock") == .background)
        #expect(!world.lines().contains("stop clock"))
        world.give(.done(sequence: 5), from: Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func `callback waits for the answer to the previous one`() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.willFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        #expect(world.lines().filter { $0.hasPrefix("clock ←") } == ["clock ← will-finish-launching"])
        world.give(.done(sequence: 1), from: Self.clock)
        #expect(
            world.lines().filter { $0.hasPrefix("clock ←") } == [
                "clock ← did-finish-launching", "clock ← did-become-active",
            ])
    }

    // MARK: The time of tasks

    @Test func `task that begins in the background has the rest of the 30 s`() {
        var world = running("clock")
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(10))
        world.give(.beginTask(2, name: "upload"), from: Self.clock)
        world.give(.endAssertion(1), from: Self.clock)
        _ = world.lines()
        world.pass(.milliseconds(19_999))
        #expect(world.lines() == [])
        world.pass(.milliseconds(1))
        #expect(world.lines() == ["clock ← expire-task 2"])
    }

    @Test func `the time of a task stands still in the foreground, and is whole again afterwards`() {
        var world = running("clock")
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(20))
        world.ask(.focus(Self.clock))
        world.pass(.seconds(5))
        world.ask(.home)
        _ = world.lines()
        world.pass(.milliseconds(29_999))
        #expect(world.lines() == [])
        world.pass(.milliseconds(1))
        #expect(world.lines() == ["clock ← expire-task 1"])
    }

    @Test func `app that does not end its task in time is killed without SIGTERM`() {
        var world = running("clock")
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.milliseconds(34_999))
        _ = world.lines()
        world.pass(.milliseconds(1))
        #expect(world.lines().prefix(3).last == "kill clock")
    }

    // MARK: What the app is told with a callback

    /// What the core tells the app on its way to the foreground and away again.
    func deliveries(from world: World, background: Bool = false) -> [Delivery] {
        var core = world.core
        var found: [Delivery] = []
        guard let clock = core.index(of: Self.clock) else { return [] }
        var queue: [Input] = [
            .request(RequestID(1001), .launch(Self.clock, background: background)), .outcome(clock, .spawned),
            .message(clock, .hello), .request(RequestID(1002), .home),
        ]
        while !queue.isEmpty {
            for message in core.handle(queue.removeFirst(), at: world.now).messages {
                guard case .deliver(clock, let delivery) = message else { continue }
                found.append(delivery)
                queue.insert(.message(clock, .done(sequence: delivery.sequence)), at: 0)
            }
        }
        return found
    }

    @Test func `launch options come with both launch callbacks and no other`() {
        let told = deliveries(from: World(apps: "clock"))
        #expect(
            told.map(\.callback) == [
                .willFinishLaunching, .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground,
            ])
        #expect(told.map { $0.launch?.reason } == [.launch, .launch, nil, nil, nil])
        #expect(told.map(\.taskTime) == [nil, nil, nil, nil, .seconds(30)])
        #expect(told.map(\.state) == [.inactive, .inactive, .active, .active, .background])
    }

    @Test func `background launch gets its launch callbacks only`() {
        let told = deliveries(from: World(apps: "clock"), background: true)
        #expect(told.map(\.callback) == [.willFinishLaunching, .didFinishLaunching])
        #expect(told.map(\.state) == [.inactive, .background])
    }

    @Test(arguments: [
        (Outcome.exited(.signal(11), othersLeft: false), Reason.crash, true),
        (.exited(.code(1), othersLeft: false), .crash, true),
        (.exited(.code(0), othersLeft: false), .exit, false),
    ])
    func `app that crashed is restored, app that exited with success is not`(
        end: Outcome, reason: Reason, restores: Bool
    ) {
        var world = running("clock")
        world.give(end, of: Self.clock)
        let launch = deliveries(from: world).first?.launch
        #expect(launch?.previous?.reason == reason && launch?.previous?.state == .active)
        #expect(launch?.previous?.instant == world.now)
        #expect(launch?.restores == restores)
    }

    @Test(arguments: [Request.terminate(clock), .kill(clock)])
    func `an app that a user ended is told so, and not restored`(request: Request) {
        var world = running("clock")
        world.ask(request)
        let launch = deliveries(from: world).first?.launch
        #expect(launch?.previous?.reason == (request == .kill(Self.clock) ? .kill : .terminate))
        #expect(launch?.restores == false)
    }

    @Test func `an app that missed the time of its tasks or of the background is restored`() {
        for isHeld in [false, true] {
            var world = running("clock")
            if isHeld {
                world.give(.beginTask(1, name: "upload"), from: Self.clock)
            } else {
                world.silent[Self.clock] = [.didEnterBackground]
            }
            world.ask(.home)
            world.pass(.seconds(35))
            let launch = deliveries(from: world).first?.launch
            #expect(launch?.previous?.reason == (isHeld ? .taskTimeout : .backgroundTimeout))
            #expect(launch?.restores == true)
        }
    }

    @Test func `first launch has no previous exit`() {
        let launch = deliveries(from: World(apps: "clock")).first?.launch
        #expect(launch?.previous == nil && launch?.restores == false)
    }

    @Test func `app that connects just before it is stopped hears all when it is resumed`() {
        var world = running("clock", linked: false)
        world.ask(.home)
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
        world.give(.hello, from: Self.clock)
        world.ask(.resume(Self.clock))
        let told = world.told[Self.clock]?.map(\.callback)
        #expect(told == [.willFinishLaunching, .didFinishLaunching, .didEnterBackground])
    }
}
