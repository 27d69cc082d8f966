import Simulation
import Testing

@testable import LifecycleCore

/// Tasks and activities whose line the daemon reads while it stops the app, or when it has stopped it: the app sent the line before.
@Suite struct LateAssertionTests {
    static let clock = AppID("clock")
    static let end: [AppMessage] = [
        .beginTask(2, name: "next"), .beginActivity(2, mode: "audio"),
    ]

    /// The clock is in the background, and is stopped as soon as its first task ends.
    private func world() -> World {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.backgroundModes = ["audio"]
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginTask(1, name: "first"), from: Self.clock)
        world.ask(.home)
        _ = world.lines()
        return world
    }

    @Test(arguments: end, [false, true])
    func assertionThatBeginsDuringTheStopKeepsTheAppRunning(message: AppMessage, isSeenStopped: Bool) {
        var world = world()
        if !isSeenStopped { world.withholding = [.stopped] }
        world.give(.endAssertion(1), from: Self.clock)
        #expect(world.state("clock") == (isSeenStopped ? .suspended : .background))
        world.give(message, from: Self.clock)
        if !isSeenStopped { world.give(.stopped, of: Self.clock) }
        let lines = world.lines()
        #expect(lines.filter { !$0.contains("→") } == ["stop clock", "clock ← granted 2", "resume clock"])
        #expect(lines.filter { $0.contains("→") }.count == (isSeenStopped ? 2 : 0))
        #expect(world.state("clock") == .background)
        world.withholding = []
        world.give(.endAssertion(2), from: Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func taskThatBeginsDuringTheStopHasTheRestOfTheTime() {
        var world = world()
        for second in 1...3 {
            world.pass(.seconds(9))
            world.give(.endAssertion(UInt64(second)), from: Self.clock)
            #expect(world.state("clock") == .suspended)
            world.give(.beginTask(UInt64(second + 1), name: "next"), from: Self.clock)
            #expect(world.state("clock") == .background)
        }
        _ = world.lines()
        world.pass(.milliseconds(2_999))
        #expect(world.lines() == [])
        world.pass(.milliseconds(1))
        #expect(world.lines() == ["clock ← expire-task 4"])
        world.give(.endAssertion(4), from: Self.clock)
        world.give(.beginTask(5, name: "next"), from: Self.clock)
        #expect(world.lines().last == "clock ← refused timeIsUp 5")
        #expect(world.state("clock") == .suspended)
    }

    @Test func taskOfAnAppThatWasResumedForAnotherReasonHasAllOfTheTime() {
        var world = world()
        world.pass(.seconds(20))
        world.give(.endAssertion(1), from: Self.clock)
        world.pass(.seconds(60))
        world.silent[Self.clock] = [.performTask]
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        world.give(.beginTask(2, name: "next"), from: Self.clock)
        #expect(world.core.deadline(.tasks, of: Self.clock) == world.now + .seconds(30))
    }

    @Test(arguments: [false, true])
    func taskAfterTheForegroundOrALaunchHasAllOfTheTime(isLaunched: Bool) {
        var world = world()
        world.pass(.seconds(20))
        world.give(.endAssertion(1), from: Self.clock)
        if isLaunched {
            world.ask(.kill(Self.clock))
            world.ask(.launch(Self.clock, background: true))
        } else {
            world.give(.beginTask(2, name: "next"), from: Self.clock)
            world.ask(.focus(Self.clock))
            world.ask(.home)
        }
        world.give(.beginTask(3, name: "last"), from: Self.clock)
        #expect(world.core.deadline(.tasks, of: Self.clock) == world.now + .seconds(30))
    }

    @Test(arguments: end)
    func appThatIsSuspendedAtOnceStaysSuspended(message: AppMessage) {
        var world = world()
        world.withholding = [.stopped]
        let suspend = world.ask(.suspend(Self.clock, now: true))
        world.give(message, from: Self.clock)
        #expect(!world.lines().contains("resume clock"))
        world.give(.stopped, of: Self.clock)
        world.give(.endAssertion(2), from: Self.clock)
        world.give(message, from: Self.clock)
        #expect(world.replies[suspend]?.name != nil)
        #expect(world.state("clock") == .suspended)
    }

    @Test func launchThatFollowsASuspensionAtOnceKeepsTheTask() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginTask(1, name: "first"), from: Self.clock)
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.suspend(Self.clock, now: true))
        world.ask(.terminate(Self.clock))
        world.ask(.launch(Self.clock, background: true))
        world.answer(Self.clock)
        #expect(world.state("clock") == .background)
        #expect(world.core.knownApps[Self.clock]?.heldAssertions.count == 1)
    }

    @Test(arguments: end)
    func appThatIsSeenStoppedByRequestStaysSuspended(message: AppMessage) {
        var world = world()
        world.give(.endAssertion(1), from: Self.clock)
        world.ask(.resume(Self.clock))
        let suspend = world.ask(.suspend(Self.clock))
        #expect(world.replies[suspend]?.doneApp == Self.clock)
        world.give(message, from: Self.clock)
        #expect(world.state("clock") == .suspended)
    }
}
