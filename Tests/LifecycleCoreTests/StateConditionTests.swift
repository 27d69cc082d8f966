import LifecycleCore
import Testing

/// What holds an app that has work, scenes, or lost its channel, and what a kernel that is slow does to a forecast.
@Suite struct StateConditionTests {
    static let clock = AppID("clock")

    func world(linked: Bool = false, _ edit: (inout Policy) -> Void = { _ in }) -> World {
        var world = World(apps: "clock", linked: linked)
        var policy = Policy()
        edit(&policy)
        world.give(.define(Self.clock, policy))
        return world
    }

    func events(_ world: World) -> [Prospect.Event] { world.core.forecast(of: Self.clock).map(\.event) }

    @Test func `conditions include an assertion of an app that is to run`() throws {
        var world = world(linked: true) { $0.backgroundModes = ["audio"] }
        world.ask(.launch(Self.clock, background: true))
        world.give(.beginActivity(1, mode: "audio"), from: Self.clock)
        world.ask(.resume(Self.clock))
        let hold = try #require(world.core.knownApps[Self.clock]?.heldAssertions.first)
        #expect(world.core.conditions(of: Self.clock) == [.assertion(hold, until: nil), .request])
    }

    @Test func `work request that is not delivered yet is a condition`() {
        var world = world()
        world.ask(.deliver(Self.clock, .performTask(kind: "fetch", payload: "")))
        let conditions = world.core.conditions(of: Self.clock)
        #expect(conditions.count { if case .work("fetch", _) = $0 { true } else { false } } == 1)
    }

    @Test func `wake time of an app without callbacks is a condition`() {
        var world = world { $0.callbacks = .none }
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(
            world.core.conditions(of: Self.clock).contains(.work(kind: nil, until: Instant(microseconds: 30_000_000))))
    }

    @Test func `URL is not a condition of kind work`() {
        var world = world(linked: true)
        world.silent[Self.clock] = [.openURL]
        world.ask(.launch(Self.clock, background: true))
        world.ask(.deliver(Self.clock, .openURL("a:b", type: nil)))
        world.ask(.home)
        let conditions = world.core.conditions(of: Self.clock)
        #expect(!conditions.contains { if case .work = $0 { true } else { false } })
    }

    @Test func appThatWaitsForTheForegroundHasTheAppAheadAsAnStateCondition() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.pass(.seconds(60))
        world.ask(.launch(AppID("maps"), background: false))
        world.silent[AppID("maps")] = [.willResignActive]
        world.give(.beginTask(1, name: "upload"), from: AppID("maps"))
        world.ask(.focus(Self.clock))
        #expect(world.state("maps") == .active)
        #expect(world.core.conditions(of: Self.clock) == [.activationSlot([AppID("maps")])])
    }

    @Test func appInTheBackgroundDoesNotWaitForTheForeground() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.launch(AppID("maps"), background: false))
        #expect(world.core.foreground == [AppID("maps")])
        #expect(
            !world.core.conditions(of: Self.clock).contains { if case .activationSlot = $0 { true } else { false } })
    }

    // MARK: Scenes

    @Test func `app whose scenes move has scenes as a condition`() {
        var policy = Policy()
        policy.scenes = true
        var world = world(linked: true) { $0 = policy }
        world.ask(.launch(Self.clock, background: false))
        #expect(world.core.conditions(of: Self.clock).isEmpty)
        world = world.restored(policy)
        world.ask(.openScene(Self.clock, SceneOpening(scene: SceneID("second")), background: true))
        #expect(world.core.nextState(of: Self.clock) == nil)
        #expect(world.core.conditions(of: Self.clock) == [.scenes])
    }

    @Test func `reconnecting app with scenes has its channel as a condition`() {
        var policy = Policy()
        policy.scenes = true
        var world = world(linked: true) { $0 = policy }
        world.ask(.launch(Self.clock, background: false))
        world = world.restored(policy)
        world.ask(.home)
        let conditions = world.core.conditions(of: Self.clock)
        let isWaitedFor = conditions.contains { if case .channel = $0 { true } else { false } }
        #expect(isWaitedFor, "\(conditions)")
    }

    // MARK: What comes

    @Test func `forecast begins with the operation that the kernel has not confirmed`() {
        var starting = world()
        starting.withholding = [.spawned]
        starting.ask(.launch(Self.clock, background: false))
        #expect(events(starting).first == .transition(from: .notRunning, to: .inactive, .launch))
        var waking = world()
        waking.ask(.launch(Self.clock, background: true))
        waking.pass(.seconds(60))
        waking.withholding = [.resumed]
        waking.ask(.focus(Self.clock))
        #expect(events(waking).first == .transition(from: .suspended, to: .background, .focus))
    }

    @Test func `however many tasks there are, their time is over once`() {
        var world = world(linked: true)
        world.ask(.launch(Self.clock, background: false))
        for number in UInt64(1)...3 { world.give(.beginTask(number, name: "upload"), from: Self.clock) }
        world.ask(.home)
        #expect(events(world).count { $0 == .tasksExpire } == 1)
    }

    @Test func lostChannelIsAnStateConditionOfAnAppThatStaysInTheBackground() {
        var world = world(linked: true) { $0.suspend = .never }
        world.ask(.launch(Self.clock, background: true))
        world.give(.closed, from: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.target == .background)
        #expect(world.core.conditions(of: Self.clock).first == .channel(until: Instant(microseconds: 1_000_000)))
    }
}
