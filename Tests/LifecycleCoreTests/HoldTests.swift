import Testing

@testable import LifecycleCore

/// Background tasks and activities: what keeps an app awake out of sight, and for how long.
@Suite struct HoldTests {
    static let clock = AppID("clock")

    func inFront(modes: Set<String> = []) -> World {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.backgroundModes = modes
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        return world
    }

    @Test func `a task holds the app until it ends`() {
        var world = inFront()
        world.give(.message(Self.clock, .beginTask(1, name: "upload")))
        #expect(world.lines() == ["clock ← granted 1"])
        world.ask(.home)
        world.pass(.seconds(20))
        #expect(world.state("clock") == .background)
        _ = world.lines()
        world.give(.message(Self.clock, .endHold(1)))
        #expect(world.lines() == ["stop clock", "clock: background → suspended (idle)"])
    }

    @Test func `the time of tasks does not run for who is in sight and waits for a place`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.give(.message(Self.clock, .beginTask(1, name: "upload")))
        world.ask(.launch(AppID("maps"), background: false))
        #expect(world.core.deadlines.instant(.tasks, Self.clock) != nil)
        world.silent[AppID("maps")] = [.willResignActive]
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .inactive)
        #expect(world.core.deadlines.instant(.tasks, Self.clock) == nil)
    }

    @Test func `an app can ask how much time its tasks have, which runs in the background alone`() {
        var world = inFront()
        let ask = Input.message(Self.clock, .timeLeft)
        world.give(ask)
        world.give(.message(Self.clock, .beginTask(1, name: "upload")))
        #expect(world.lines() == ["clock ← time-left unlimited", "clock ← granted 1"])
        world.ask(.home)
        world.pass(.seconds(20))
        _ = world.lines()
        world.give(ask)
        #expect(world.lines() == ["clock ← time-left \(Duration.seconds(10))"])
        world.pass(.seconds(12))
        _ = world.lines()
        world.give(ask)
        #expect(world.lines() == ["clock ← time-left \(Duration.zero)"])
        world.ask(.focus(Self.clock))
        _ = world.lines()
        world.give(ask)
        #expect(world.lines() == ["clock ← time-left unlimited"])
    }

    @Test func `nothing is due for an app in front that has come back with its task`() throws {
        var world = inFront()
        world.give(.message(Self.clock, .beginTask(1, name: "upload")))
        let hold = try #require(world.core.knownApps[Self.clock]?.holds.first)
        world.ask(.home)
        #expect(world.core.end(of: hold, of: Self.clock) != nil)
        world.ask(.focus(Self.clock))
        #expect(world.core.end(of: hold, of: Self.clock) == nil)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `a task has thirty seconds, and five more after being told`() {
        var world = inFront()
        world.give(.message(Self.clock, .beginTask(1, name: "upload")))
        world.ask(.home)
        world.pass(.milliseconds(29_999))
        _ = world.lines()
        world.pass(.milliseconds(1))
        #expect(world.lines() == ["clock ← expire-task 1"])
        world.pass(.milliseconds(4999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(
            world.lines().prefix(2) == [
                "! tasks overdue [\"upload\"]", "clock: background → terminating (task-timeout)",
            ])
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .taskTimeout)
    }

    @Test func `a task that ends after being told saves the app`() {
        var world = inFront()
        world.give(.message(Self.clock, .beginTask(1, name: "upload")))
        world.ask(.home)
        world.pass(.seconds(34))
        world.give(.message(Self.clock, .endHold(1)))
        #expect(world.state("clock") == .suspended)
        world.pass(.seconds(60))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `the time of tasks is shared, and starts anew after being in front`() {
        var world = inFront()
        world.ask(.resume(Self.clock))
        world.give(.message(Self.clock, .beginTask(1, name: "a")))
        world.ask(.home)
        world.pass(.seconds(29))
        world.give(.message(Self.clock, .beginTask(2, name: "b")))
        _ = world.lines()
        world.pass(.seconds(1))
        #expect(world.lines() == ["clock ← expire-task 1", "clock ← expire-task 2"])
        world.give(.message(Self.clock, .beginTask(3, name: "c")))
        #expect(world.lines() == ["clock ← refused timeIsUp 3"])
        world.ask(.focus(Self.clock))
        world.ask(.home)
        world.pass(.seconds(29))
        #expect(world.state("clock") == .background)
    }

    @Test func `an activity holds without limit, and only if it was declared`() {
        var world = inFront(modes: ["audio"])
        world.give(.message(Self.clock, .beginActivity(1, mode: "audio")))
        world.give(.message(Self.clock, .beginActivity(2, mode: "location")))
        #expect(world.lines() == ["clock ← granted 1", "clock ← refused undeclared 2"])
        world.ask(.home)
        world.pass(.seconds(3600))
        #expect(world.state("clock") == .background)
        #expect(world.replies[world.ask(.suspend(Self.clock))]?.name == "refused held")
        world.give(.message(Self.clock, .endHold(1)))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `tasks are counted and their numbers are the app's`() {
        var world = inFront()
        for number in UInt64(1)...16 { world.give(.message(Self.clock, .beginTask(number, name: "t"))) }
        _ = world.lines()
        world.give(.message(Self.clock, .beginTask(17, name: "t")))
        world.give(.message(Self.clock, .endHold(16)))
        world.give(.message(Self.clock, .beginTask(1, name: "other")))
        #expect(world.lines() == ["clock ← refused tooMany 17", "clock ← refused duplicate 1"])
    }

    @Test func `a task that an app begins again after its channel was lost is the same task`() {
        var world = inFront()
        for _ in 1...2 { world.give(.message(Self.clock, .beginTask(1, name: "t"))) }
        #expect(world.lines().suffix(2) == ["clock ← granted 1", "clock ← granted 1"])
        #expect(world.core.knownApps[Self.clock]?.holds.count == 1)
    }

    @Test func `an app that must answer is not in use before it has`() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.silent[Self.clock] = [.didFinishLaunching]
        let launch = world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(19))
        #expect(world.state("clock") == .inactive)
        #expect(world.replies[launch] == nil)
        world.give(.message(Self.clock, .done(sequence: 2)))
        #expect(world.state("clock") == .active)
        #expect(world.replies[launch]?.doneApp == Self.clock)
    }

    @Test func `an app that must answer and does not is ended`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        let launch = world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(20))
        #expect(world.replies[launch]?.name == "refused ended")
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .launchTimeout)
    }

    @Test func `an app that the system ended is restored, one that a person ended is not`() {
        for (end, restores) in [(Request.terminate(Self.clock), false), (.kill(Self.clock), false)] {
            var world = inFront()
            world.ask(end)
            #expect(world.core.knownApps[Self.clock]?.lastExit?.reason.callsForRestoration == restores)
        }
        var world = inFront()
        world.give(.outcome(Self.clock, .exited(.signal(11), othersLeft: false)))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason.callsForRestoration == true)
    }

    @Test func `nobody is kept waiting for the sleep of an app that begins something without an end`() {
        var world = inFront(modes: ["audio"])
        world.give(.message(Self.clock, .beginTask(1, name: "upload")))
        let suspend = world.ask(.suspend(Self.clock))
        let sleep = world.ask(.machine(.sleep))
        #expect(world.replies[suspend] == nil && world.replies[sleep] == nil)
        world.give(.message(Self.clock, .beginActivity(2, mode: "audio")))
        #expect(world.replies[suspend]?.name == "refused held")
        #expect(world.replies[sleep]?.name == "done")
    }

    @Test func `who ends one of two tasks whose time is over is ended for the other`() {
        var world = inFront(modes: ["audio"])
        for number in UInt64(1)...2 { world.give(.message(Self.clock, .beginTask(number, name: "t"))) }
        world.ask(.home)
        world.pass(.seconds(30))
        world.give(.message(Self.clock, .endHold(1)))
        _ = world.lines()
        world.pass(.seconds(5))
        #expect(world.lines().contains("! tasks overdue [\"t\"]"))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .taskTimeout)
    }

    @Test func `who has ended its last task, and goes on with an activity, is ended for neither`() {
        var world = inFront(modes: ["audio"])
        world.give(.message(Self.clock, .beginTask(1, name: "t")))
        world.give(.message(Self.clock, .beginActivity(2, mode: "audio")))
        world.ask(.home)
        world.pass(.seconds(30))
        world.give(.message(Self.clock, .endHold(1)))
        #expect(world.core.nextDeadline == nil)
    }

    @Test(arguments: [10, 31])
    func `the time of tasks is over for an app that closes its channel`(after: Int) {
        var world = inFront()
        world.give(.message(Self.clock, .beginTask(1, name: "t")))
        world.ask(.home)
        world.ask(.resume(Self.clock))
        world.pass(.seconds(after))
        world.give(.message(Self.clock, .closed))
        world.pass(Lifecycle.exitTime + .seconds(5))
        #expect(world.state("clock") == .background)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `it can be told when a task has to end, and an activity need not`() throws {
        var world = inFront(modes: ["audio"])
        world.give(.message(Self.clock, .beginTask(1, name: "t")))
        world.give(.message(Self.clock, .beginActivity(2, mode: "audio")))
        world.ask(.home)
        let ends = try #require(world.core.knownApps[Self.clock]).holds.map { world.core.end(of: $0, of: Self.clock) }
        #expect(ends == [world.now + .seconds(30), nil])
    }
}
