import Testing

@testable import LifecycleCore

/// What apps are told, until when they may answer, and what their answers and their silence lead to.
@Suite struct AnswerTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    func running(_ names: String...) -> World {
        var world = World(apps: "clock", "maps", linked: true)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    /// An app of which the answers to the launch callbacks are required, and has been launched.
    func launching(silent: Set<Callback>, timeout: Duration = .seconds(20)) -> World {
        var world = World(apps: "clock", linked: true)
        world.give(.define(Self.clock, Self.demanding(timeout)))
        world.silent[Self.clock] = silent
        world.ask(.launch(Self.clock, background: false))
        return world
    }

    static func demanding(_ timeout: Duration) -> Policy {
        var policy = Policy()
        policy.callbacks = .required
        policy.timeouts.launch = timeout
        return policy
    }

    // MARK: Answers

    @Test func `app that is handed an event before did-become-active is not active yet`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.ask(.deliver(Self.clock, .openURL("lifed:2")))
        world.ask(.home)
        world.ask(.resume(Self.clock))
        world.give(.memory(.short))
        let told = world.told[Self.clock] ?? []
        #expect(told.filter { $0.callback == .openURL }.map(\.state) == [.inactive, .active])
        #expect(told.last?.callback == .memoryWarning && told.last?.state == .background)
    }

    @Test func `the time of an answer is written down`() {
        var world = running("clock")
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.home)
        world.pass(.milliseconds(300))
        world.answer(Self.clock)
        #expect(world.decisions.contains(.answered(Self.clock, .willResignActive, .milliseconds(300))))
    }

    // MARK: Silence

    @Test func `a resignation is sent after an unanswered callback, and has a whole second after that`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.silent[Self.clock] = [.didBecomeActive, .willResignActive]
        world.ask(.focus(Self.clock))
        let activation = world.told[Self.clock]?.last?.sequence ?? 0
        world.ask(.home)
        #expect(world.told[Self.clock]?.last?.callback == .willResignActive)
        #expect(world.told[Self.clock]?.last?.state == .active)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .inactive)
        world.give(.done(sequence: activation), from: Self.clock)
        world.pass(.milliseconds(999))
        #expect(world.state("clock") == .inactive)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `open-url has its whole time if the app loses its foreground slot meanwhile`() {
        var world = running("clock")
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.ask(.home)
        world.pass(.milliseconds(4_999))
        #expect(!world.lines().contains("! clock open-url unanswered"))
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("! clock open-url unanswered"))
    }

    @Test func `the time for an answer is over with the answer`() {
        var world = running("clock")
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.pass(.milliseconds(4_500))
        world.answer(Self.clock)
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.home)
        world.pass(.milliseconds(999))
        #expect(world.state("clock") == .active)
    }

    @Test(arguments: [Callback.willFinishLaunching, .didFinishLaunching])
    func `app that answers one of two required launch callbacks is killed when its launch time expires`(
        callback: Callback
    ) {
        var world = launching(silent: [callback])
        world.pass(.milliseconds(19_999))
        #expect(world.state("clock") == .inactive)
        _ = world.lines()
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("kill clock"))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .launchTimeout)
    }

    @Test func `required launch callback has no longer than its manifest says`() {
        var world = World(apps: "clock")
        world.give(.define(Self.clock, Self.demanding(.seconds(60))))
        world.ask(.launch(Self.clock, background: false))
        world.give(.define(Self.clock, Self.demanding(.seconds(5))))
        world.silent[Self.clock] = [.willFinishLaunching]
        world.give(.hello, from: Self.clock)
        world.pass(.seconds(5))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .launchTimeout)
    }

    @Test func `background launch is answered when its callbacks are, on the way to the foreground or not`() {
        var world = World(apps: "clock")
        world.give(.define(Self.clock, Self.demanding(.seconds(60))))
        world.silent[Self.clock] = [.willFinishLaunching, .willEnterForeground]
        let launch = world.ask(.launch(Self.clock, background: true))
        world.ask(.focus(Self.clock))
        world.give(.hello, from: Self.clock)
        #expect(world.replies[launch] == nil)
        world.answer(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .willEnterForeground)
        #expect(world.replies[launch]?.doneApp == Self.clock)
    }

    // MARK: A connected app no more

    @Test func `an app that closes its channel on its way to the foreground need not get there`() {
        var world = running("clock", "maps")
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.home)
        _ = world.lines()
        world.give(.closed, from: Self.clock)
        world.pass(.seconds(10))
        #expect(!world.lines().contains { $0.contains("→ active") })
        #expect(world.state("clock") == .suspended)
    }

    @Test func `an app that closes its channel is held by nothing any more`() {
        var world = running("clock")
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime)
        #expect(world.core.knownApps[Self.clock]?.heldAssertions == [])
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `event that waits for an app that disconnects ends as not-listening`() {
        var world = running("clock", "maps")
        world.silent[Self.clock] = [.willEnterForeground]
        let url = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.give(.closed, from: Self.clock)
        #expect(world.replies[url] == nil)
        world.pass(AppMachine.exitTime)
        #expect(world.replies[url]?.name == "not-listening")
    }

    // MARK: Rest

    /// Histories at whose end there is nothing left to wait for.
    static let histories: [@Sendable (inout World) -> Void] = [
        { $0.ask(.launch(clock, background: false)) },
        { $0.ask(.launch(clock, background: true)) },
        { world in
            world.give(.define(clock, demanding(.seconds(20))))
            world.ask(.launch(clock, background: false))
        },
        { world in
            world.linked = []
            world.ask(.deliver(clock, .openURL("lifed:1")))
            world.give(.hello, from: clock)
        },
        { world in
            world.linked = []
            world.ask(.deliver(clock, .openURL("lifed:1")))
            world.ask(.kill(clock))
        },
        { world in
            world.ask(.deliver(clock, .performTask(kind: "fetch")))
            world.ask(.resume(clock))
        },
        { world in
            world.ask(.launch(clock, background: false))
            world.give(.beginTask(1, name: "upload"), from: clock)
            world.ask(.home)
            world.pass(.seconds(31))
            world.give(.endAssertion(1), from: clock)
        },
        { world in
            world.ask(.launch(clock, background: false))
            world.give(.beginTask(1, name: "upload"), from: clock)
            world.ask(.home)
            world.pass(.seconds(31))
            world.ask(.focus(clock))
        },
        { world in
            world.linked = []
            world.ask(.launch(clock, background: false))
            world.ask(.home)
            world.ask(.focus(clock))
        },
        { world in
            world.ask(.launch(clock, background: false))
            world.ask(.launch(maps, background: false))
            world.ask(.focus(clock))
            world.ask(.terminate(maps))
        },
        { world in
            world.silent[clock] = [.openURL]
            world.ask(.deliver(clock, .openURL("lifed:1")))
            world.ask(.beginInterruption("call"))
            world.answer(clock)
        },
    ]

    @Test(arguments: histories.indices)
    func `app at rest causes no deadline`(history: Int) {
        var world = World(apps: "clock", "maps", linked: true)
        Self.histories[history](&world)
        #expect(world.core.nextDeadline == nil)
    }

    // MARK: The end

    @Test func `app that is to end gets SIGTERM at once, whatever callbacks are pending`() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.willFinishLaunching]
        world.ask(.launch(Self.clock, background: true))
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        let lines = world.lines().filter { $0.contains("clock") }
        #expect(lines.prefix(2) == ["clock: background → terminating (terminate)", "terminate clock"])
    }
}
