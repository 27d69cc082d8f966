import Testing

@testable import LifecycleCore

/// When the time of tasks begins, and that nothing of it is left behind.
@Suite struct TaskTimeTests {
    static let clock = AppID("clock")

    /// The clock is in the background, and is not stopped before the test says so.
    private func inBackground(activity: Bool = false, task: Bool = false) -> World {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.backgroundModes = ["audio"]
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        if activity { world.give(.beginActivity(2, mode: "audio"), from: Self.clock) }
        if task { world.give(.beginTask(1, name: "upload"), from: Self.clock) }
        world.withholding = [.stopped]
        world.ask(.home)
        _ = world.lines()
        return world
    }

    @Test func firstTaskOfAStayHasTheRestOfItsTime() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.home)
        let begin = world.now
        world.pass(.seconds(3))
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        #expect(world.core.deadline(.tasks, of: Self.clock) == begin + .seconds(30))
    }

    @Test func taskOfASuspendedAppHasNoTimeBeforeTheAppRuns() {
        var world = inBackground()
        world.withholding = [.resumed]
        world.give(.stopped, of: Self.clock)
        #expect(world.state("clock") == .suspended)
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        #expect(world.core.deadline(.tasks, of: Self.clock) == nil)
        world.give(.resumed, of: Self.clock)
        #expect(world.core.deadline(.tasks, of: Self.clock) != nil)
    }

    @Test func timeBeginsAnewWithTheEndOfAnActivity() {
        var world = inBackground(activity: true)
        world.pass(.seconds(100))
        world.give(.endAssertion(2), from: Self.clock)
        world.give(.beginTask(3, name: "upload"), from: Self.clock)
        #expect(world.lines().suffix(2) == ["clock ← granted 3", "resume clock"])
        #expect(world.core.deadline(.tasks, of: Self.clock) == world.now + .seconds(30))
    }

    @Test func timeBeginsAnewWithTheEndOfAUse() {
        var world = inBackground()
        world.give(.setUses(.visible, [Self.clock]))
        world.pass(.seconds(100))
        world.give(.setUses(.visible, []))
        world.give(.beginTask(3, name: "upload"), from: Self.clock)
        #expect(world.lines().last == "clock ← granted 3")
        #expect(world.core.deadline(.tasks, of: Self.clock) == world.now + .seconds(30))
    }

    @Test func nothingExpiresAfterTheLastTask() {
        var world = inBackground(task: true)
        world.pass(.seconds(30))
        #expect(world.core.deadline(.taskExpiration, of: Self.clock) != nil)
        world.give(.endAssertion(1), from: Self.clock)
        #expect(world.state("clock") == .background)
        #expect(world.core.deadline(.taskExpiration, of: Self.clock) == nil)
    }

    @Test(arguments: [DeadlineKind.tasks, .taskExpiration])
    func nothingExpiresAfterTheChannelIsLost(kind: DeadlineKind) {
        var world = inBackground(task: true)
        world.pass(.seconds(kind == .tasks ? 1 : 30))
        #expect(world.core.deadline(kind, of: Self.clock) != nil)
        world.give(.closed, from: Self.clock)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .background)
        #expect(world.core.deadline(kind, of: Self.clock) == nil)
    }
}
