import LifecycleCore
import Testing

/// The deciders of an app's target, in their order of precedence.
@Suite struct TargetTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    /// One case: the conditions of an app, and its target.
    struct Row: Sendable, CustomTestStringConvertible {
        /// The row of the table in the documentation of ``AppMachine``.
        let decider: String
        var isInForeground = false
        /// A Boolean value that indicates whether the app plays sound when it leaves the foreground.
        var isPlaying = false
        /// The conditions, which are applied after the launch in this order.
        var conditions: [Condition] = []
        let target: AppState

        var testDescription: String {
            let place = isInForeground ? "foreground" : "background"
            return ([decider + ":", place] + (isPlaying ? ["playing"] : []) + conditions.map(\.rawValue))
                .joined(separator: " ")
        }
    }

    enum Condition: String, Sendable {
        case interruption, lock, sleep, neverSuspended, suspendedAtOnce, suspended, keptRunning, visible
        case terminated, shutdown, crashed, interruptionEnded, unlock
    }

    static let rows: [Row] = [
        Row(decider: "need not run", conditions: [.crashed], target: .notRunning),
        Row(
            decider: "need not run", isInForeground: true, conditions: [.neverSuspended, .crashed],
            target: .notRunning),
        Row(decider: "is to end", conditions: [.terminated], target: .notRunning),
        Row(decider: "is to end", isInForeground: true, conditions: [.terminated], target: .notRunning),
        Row(
            decider: "is to end", isInForeground: true, conditions: [.lock, .neverSuspended, .visible, .terminated],
            target: .notRunning),
        Row(decider: "is to end", conditions: [.keptRunning, .visible, .shutdown], target: .notRunning),

        Row(decider: "foreground", isInForeground: true, target: .active),
        Row(decider: "foreground", isInForeground: true, conditions: [.neverSuspended, .visible], target: .active),
        Row(decider: "foreground", isInForeground: true, conditions: [.interruption], target: .inactive),
        Row(
            decider: "foreground", isInForeground: true, conditions: [.interruption, .neverSuspended, .visible],
            target: .inactive),
        Row(
            decider: "foreground", isInForeground: true, conditions: [.interruption, .interruptionEnded],
            target: .active),
        Row(decider: "foreground", isInForeground: true, conditions: [.lock, .unlock], target: .active),
        Row(decider: "no foreground", conditions: [.interruption], target: .suspended),

        Row(decider: "blocker", isInForeground: true, conditions: [.lock], target: .suspended),
        Row(decider: "blocker", isInForeground: true, conditions: [.interruption, .lock], target: .suspended),
        Row(decider: "blocker", isInForeground: true, conditions: [.lock, .sleep, .unlock], target: .suspended),
        Row(decider: "blocker", isInForeground: true, isPlaying: true, conditions: [.sleep], target: .background),

        Row(decider: "never suspended", conditions: [.neverSuspended], target: .background),
        Row(
            decider: "never suspended", isInForeground: true, conditions: [.neverSuspended, .lock],
            target: .background),
        Row(decider: "never suspended", conditions: [.suspendedAtOnce, .neverSuspended], target: .background),

        Row(decider: "suspended at once", conditions: [.suspendedAtOnce], target: .suspended),
        Row(decider: "suspended at once", conditions: [.visible, .lock, .suspendedAtOnce], target: .suspended),
        Row(decider: "suspended at once", conditions: [.keptRunning, .suspendedAtOnce], target: .suspended),
        // A request, and a window that becomes visible, end the suspension at once.
        Row(decider: "suspended at once", conditions: [.suspendedAtOnce, .keptRunning], target: .background),
        Row(decider: "suspended at once", conditions: [.suspendedAtOnce, .visible], target: .background),

        Row(decider: "kept running", conditions: [.keptRunning], target: .background),
        Row(decider: "kept running", conditions: [.keptRunning, .suspended], target: .suspended),
        Row(decider: "use", conditions: [.visible], target: .background),
        Row(decider: "use", isPlaying: true, target: .background),
        Row(decider: "use", conditions: [.visible, .lock], target: .suspended),
        Row(decider: "use", isPlaying: true, conditions: [.lock], target: .background),

        Row(decider: "default", target: .suspended),
        Row(decider: "default", conditions: [.suspended], target: .suspended),
        Row(decider: "default", conditions: [.lock, .unlock], target: .suspended),
    ]

    static func policy(_ suspend: SuspensionPolicy) -> Policy {
        var policy = Policy()
        policy.suspend = suspend
        policy.backgroundModes = [KeptUses.playingMode]
        return policy
    }

    @Test(arguments: rows)
    func targetFollowsTheFirstDeciderThatApplies(row: Row) {
        var world = World(apps: "maps", linked: true)
        world.linked.insert(Self.clock)
        world.give(.define(Self.clock, Self.policy(.auto)))
        world.ask(.launch(Self.clock, background: false))
        if row.isPlaying { world.give(.setUses(.playing, [Self.clock])) }
        if !row.isInForeground { world.ask(.launch(Self.maps, background: false)) }
        for condition in row.conditions { world.apply(condition) }
        #expect(world.core.knownApps[Self.clock]?.target == row.target)
        world.pass(.seconds(60))
        #expect(world.state("clock") == row.target)
    }

    /// Tasks, work and background time delay the suspension, and do not change the target.
    @Test func appWithATaskStaysInTheBackgroundOnItsWayToSuspended() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginTask(1, name: "save"), from: Self.clock)
        world.ask(.home)
        #expect(world.core.knownApps[Self.clock]?.target == .suspended)
        #expect(world.state("clock") == .background)
        world.give(.endAssertion(1), from: Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func appWithWorkStaysInTheBackgroundOnItsWayToSuspended() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.performTask]
        world.ask(.launch(Self.clock, background: true))
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(world.core.knownApps[Self.clock]?.target == .suspended)
        #expect(world.state("clock") == .background)
        world.answer(Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func appWithBackgroundTimeStaysInTheBackgroundOnItsWayToSuspended() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: true))
        #expect(world.core.knownApps[Self.clock]?.target == .suspended)
        #expect(world.state("clock") == .background)
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
    }
}

extension World {
    fileprivate mutating func apply(_ condition: TargetTests.Condition) {
        let clock = TargetTests.clock
        switch condition {
        case .interruption: ask(.beginInterruption("call"))
        case .interruptionEnded: ask(.endInterruption("call"))
        case .lock: ask(.machine(.lock))
        case .unlock: ask(.machine(.unlock))
        case .sleep: ask(.machine(.sleep))
        case .neverSuspended: give(.define(clock, TargetTests.policy(.never)))
        case .suspended: ask(.suspend(clock))
        case .suspendedAtOnce: ask(.suspend(clock, now: true))
        case .keptRunning: ask(.resume(clock))
        case .visible: give(.setUses(.visible, [clock]))
        case .terminated: ask(.terminate(clock))
        case .shutdown: give(.shutDown)
        case .crashed: give(.exited(.signal(11), othersLeft: false), of: clock)
        }
    }
}
