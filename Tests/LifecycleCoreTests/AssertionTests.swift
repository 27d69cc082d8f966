import Simulation
import Testing

@testable import LifecycleCore

/// Background tasks and activities: what keeps an app awake in the background, and for how long.
@Suite struct AssertionTests {
    static let clock = AppID("clock")

    func inForeground(modes: Set<String> = []) -> World {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.backgroundModes = modes
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        return world
    }

    @Test func `task time does not run for an inactive app that waits for a foreground slot`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.launch(AppID("maps"), background: false))
        #expect(world.core.deadline(.tasks, of: Self.clock) != nil)
        world.silent[AppID("maps")] = [.willResignActive]
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .inactive)
        #expect(world.core.deadline(.tasks, of: Self.clock) == nil)
    }

    @Test func `nothing is due for an app in the foreground that has come back with its task`() throws {
        var world = inForeground()
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        let hold = try #require(world.core.knownApps[Self.clock]?.heldAssertions.first)
        world.ask(.home)
        #expect(world.core.end(of: hold, of: Self.clock) != nil)
        world.ask(.focus(Self.clock))
        #expect(world.core.end(of: hold, of: Self.clock) == nil)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `app with required callbacks is active when it has answered`() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.silent[Self.clock] = [.didFinishLaunching]
        let launch = world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(19))
        #expect(world.state("clock") == .inactive)
        #expect(world.replies[launch] == nil)
        world.give(.done(sequence: 2), from: Self.clock)
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

    @Test func `app that the system ended is restored, app that a request ended is not`() {
        for (end, restores) in [(Request.terminate(Self.clock), false), (.kill(Self.clock), false)] {
            var world = inForeground()
            world.ask(end)
            #expect(world.core.knownApps[Self.clock]?.lastExit?.reason.callsForRestoration == restores)
        }
        var world = inForeground()
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason.callsForRestoration == true)
    }

    @Test func `suspend request is refused when an activity begins`() {
        var world = inForeground(modes: ["audio"])
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        let suspend = world.ask(.suspend(Self.clock))
        let sleep = world.ask(.machine(.sleep))
        #expect(world.replies[suspend] == nil && world.replies[sleep] == nil)
        world.give(.beginActivity(2, mode: "audio"), from: Self.clock)
        #expect(world.replies[suspend]?.name == "refused assertionHeld")
        #expect(world.replies[sleep]?.name == "done")
    }

    @Test func `request to suspend at once is not refused when an activity begins`() {
        var world = inForeground(modes: ["audio"])
        world.silent[Self.clock] = [.didEnterBackground]
        let suspend = world.ask(.suspend(Self.clock, now: true))
        world.give(.beginActivity(2, mode: "audio"), from: Self.clock)
        #expect(world.replies[suspend] == nil)
        world.answer(Self.clock)
        #expect(world.state("clock") == .suspended)
        #expect(world.replies[suspend]?.name == "done")
    }

    @Test func `app that has ended its last task and has an activity is not ended`() {
        var world = inForeground(modes: ["audio"])
        world.give(.beginTask(1, name: "t"), from: Self.clock)
        world.give(.beginActivity(2, mode: "audio"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(30))
        world.give(.endAssertion(1), from: Self.clock)
        #expect(world.core.nextDeadline == nil)
    }

    @Test(arguments: [10, 31])
    func `the time of tasks is over for an app that closes its channel`(after: Int) {
        var world = inForeground()
        world.give(.beginTask(1, name: "t"), from: Self.clock)
        world.ask(.home)
        world.ask(.resume(Self.clock))
        world.pass(.seconds(after))
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime)
        #expect(world.core.deadline(.tasks, of: Self.clock) == nil)
        #expect(world.core.deadline(.taskExpiration, of: Self.clock) == nil)
        world.pass(.seconds(5))
        #expect(world.state("clock") == .background)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `task has a known end, an activity has none`() throws {
        var world = inForeground(modes: ["audio"])
        world.give(.beginTask(1, name: "t"), from: Self.clock)
        world.give(.beginActivity(2, mode: "audio"), from: Self.clock)
        world.ask(.home)
        func ends() throws -> [Instant?] {
            let app = try #require(world.core.knownApps[Self.clock])
            return app.heldAssertions.map { world.core.end(of: $0, of: Self.clock) }
        }
        // The time of tasks rests beside an activity.
        #expect(try ends() == [nil, nil])
        world.give(.endAssertion(2), from: Self.clock)
        #expect(try ends() == [world.now + .seconds(30)])
    }

    /// Reasons to run in the background without a limit.
    enum Keeper: CaseIterable { case policy, request, activity }

    @Test(arguments: Keeper.allCases)
    func timeOfTasksRestsWhileSomethingElseKeepsTheAppRunning(keeper: Keeper) {
        var world = inForeground(modes: ["audio"])
        var policy = world.core.knownApps[Self.clock]?.policy ?? Policy()
        world.give(.beginTask(1, name: "t"), from: Self.clock)
        if keeper == .activity { world.give(.beginActivity(2, mode: "audio"), from: Self.clock) }
        if keeper == .policy {
            policy.suspend = .never
            world.give(.define(Self.clock, policy))
        }
        world.ask(.home)
        if keeper == .request { world.ask(.resume(Self.clock)) }
        _ = world.lines()
        world.give(.timeLeft, from: Self.clock)
        #expect(world.lines() == ["clock ← time-left unlimited"])
        world.pass(.seconds(600))
        #expect(world.lines() == [])
        world.give(.beginTask(3, name: "later"), from: Self.clock)
        #expect(world.lines() == ["clock ← granted 3"])
        switch keeper {
        case .activity: world.give(.endAssertion(2), from: Self.clock)
        case .request: world.ask(.suspend(Self.clock))
        case .policy:
            policy.suspend = .auto
            world.give(.define(Self.clock, policy))
        }
        // By a request for the suspension, tasks expire at once.
        world.pass(keeper == .request ? .zero : .seconds(30))
        #expect(world.lines() == ["clock ← expire-task 1", "clock ← expire-task 3"])
    }

    @Test func expirationIsTakenBackByAnActivity() {
        var world = inForeground(modes: ["audio"])
        world.give(.beginTask(1, name: "t"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(31))
        world.give(.beginActivity(2, mode: "audio"), from: Self.clock)
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
    }

    @Test func taskAfterAnActivityHasAllOfTheTime() {
        var world = inForeground(modes: ["audio"])
        world.give(.beginActivity(2, mode: "audio"), from: Self.clock)
        world.give(.beginTask(1, name: "t"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(600))
        world.give(.endAssertion(2), from: Self.clock)
        world.give(.beginTask(3, name: "later"), from: Self.clock)
        #expect(world.core.deadline(.tasks, of: Self.clock) == world.now + .seconds(30))
    }

    @Test(arguments: [false, true])
    func `tasks that expire after an earlier expiration have all of their time`(isLaunchedAgain: Bool) {
        var world = inForeground()
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(31))
        if isLaunchedAgain { world.ask(.kill(Self.clock)) }
        world.ask(.launch(Self.clock, background: false))
        if isLaunchedAgain { world.give(.beginTask(1, name: "upload"), from: Self.clock) }
        world.ask(.home)
        world.pass(.seconds(29))
        world = world.restored()
        world.pass(.seconds(2))
        world.reconnect(Self.clock)
        #expect(world.core.deadline(.taskExpiration, of: Self.clock) == world.now + .seconds(5))
    }

    @Test(arguments: [false, true])
    func `request to suspend expires the tasks of an app, unless it suspends the app at once`(now: Bool) {
        var world = inForeground()
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.suspend(Self.clock, now: now))
        world.pass(.zero)
        #expect(world.lines().contains("clock ← expire-task 1") == !now)
    }

    @Test func `request to suspend expires the tasks of a background app`() {
        var world = inForeground()
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(10))
        world.ask(.suspend(Self.clock))
        world.pass(.zero)
        #expect(world.lines().contains("clock ← expire-task 1"))
    }

    /// The next tasks of an app that lost its channel while its tasks were expired have a time of their own.
    @Test func tasksOfAnAppThatConnectsAgainAreNotExpired() {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.suspend = .never
        world.give(.define(clock, policy))
        world.ask(.launch(clock, background: false))
        world.give(.beginTask(1, name: "upload"), from: clock)
        world.ask(.home)
        world.pass(.seconds(31))
        world.give(.closed, from: clock)
        world.pass(.seconds(1))
        world.give(.hello, from: clock)
        #expect(world.core.record(of: clock)?["task-deadline"] == nil)
        world.ask(.focus(clock))
        world.give(.beginTask(2, name: "upload"), from: clock)
        world.pass(.seconds(10))
        #expect(world.state("clock") == .active)
    }
}
