import LifecycleCore
import Testing

/// What holds an app, and what comes next: told from the state that the machine acts upon.
@Suite struct DiagnosticsTests {
    static let clock = AppID("clock")
    static let mail = AppID("mail")

    func world(linked: Bool = false, _ edit: (inout Policy) -> Void = { _ in }) -> World {
        var world = World(apps: "clock", "mail", linked: linked)
        var policy = Policy()
        edit(&policy)
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        return world
    }

    func instant(_ milliseconds: UInt64) -> Instant { Instant(microseconds: milliseconds * 1000) }

    /// The prospects as lines: milliseconds, and what happens.
    func lines(_ world: World, _ id: AppID = clock) -> [String] {
        world.core.forecast(of: id).map { "\($0.instant.microseconds / 1000) \($0.event.line)" }
    }

    @Test func `an app in use is held by nothing, and nothing comes`() {
        let world = world()
        #expect(world.core.conditions(of: Self.clock).isEmpty)
        #expect(world.core.nextState(of: Self.clock) == nil)
        #expect(world.core.forecast(of: Self.clock).isEmpty)
    }

    @Test func `app without a connection has its background time before it is suspended`() {
        var world = world()
        world.pass(.seconds(1))
        world.ask(.home)
        #expect(world.core.conditions(of: Self.clock) == [.backgroundTime(until: instant(6000))])
        #expect(world.core.nextState(of: Self.clock) == .suspended)
        #expect(lines(world) == ["6000 background → suspended (idle)"])
    }

    @Test func `background time is no condition if the policy forbids suspension`() {
        var world = world { $0.suspend = .never }
        world.ask(.home)
        #expect(world.core.conditions(of: Self.clock) == [.policy])
        #expect(world.core.nextState(of: Self.clock) == nil)
        #expect(world.core.forecast(of: Self.clock).isEmpty)
    }

    @Test func `forecast names the kill of an app that does not answer`() {
        var world = world(linked: true)
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.home)
        #expect(
            world.core.conditions(of: Self.clock) == [
                .answer(.didEnterBackground, nil, since: instant(0), until: instant(5000))
            ])
        #expect(
            lines(world) == [
                "5000 overdue did-enter-background", "5000 background → terminating (background-timeout)", "5000 kill",
                "5000 terminating → notRunning (background-timeout)",
            ])
    }

    @Test func `tasks and activities hold an app, and a task has an end`() {
        var world = world(linked: true) { $0.backgroundModes = ["audio"] }
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.give(.beginActivity(2, mode: "audio"), from: Self.clock)
        world.ask(.home)
        let holds = world.core.knownApps[Self.clock]?.heldAssertions ?? []
        #expect(
            world.core.conditions(of: Self.clock) == [
                .assertion(holds[0], until: nil), .assertion(holds[1], until: nil),
            ])
        world.give(.endAssertion(2), from: Self.clock)
        #expect(world.core.conditions(of: Self.clock) == [.assertion(holds[0], until: instant(30_000))])
        #expect(world.core.nextState(of: Self.clock) == .suspended)
        #expect(
            lines(world).prefix(3) == [
                "30000 tasks expire", "35000 background → terminating (task-timeout)", "35000 kill",
            ])
    }

    @Test func `app that waits for a foreground slot names the app that has it`() {
        var world = world(linked: true)
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.launch(Self.mail, background: false))
        #expect(world.core.conditions(of: Self.mail) == [.activationSlot([Self.clock])])
        #expect(
            lines(world, Self.mail) == [
                "1000 inactive → active (launch)", "1000 told did-become-active", "6000 overdue did-become-active",
            ])
    }

    @Test func `app that is asked to end has its termination timeout`() {
        var world = world()
        world.stubborn = [Self.clock]
        world.ask(.terminate(Self.clock))
        #expect(world.core.conditions(of: Self.clock) == [.process(.reap, until: instant(5000))])
        #expect(lines(world) == ["5000 kill", "5000 terminating → notRunning (terminate)"])
    }

    @Test func `operation of the kernel is a condition`() {
        var world = world()
        world.withholding = [.stopped]
        world.ask(.suspend(Self.clock))
        #expect(world.core.conditions(of: Self.clock) == [.process(.stop, until: nil)])
        #expect(lines(world) == ["0 background → suspended (suspend)"])
    }

    @Test func `conditions include the reasons for the target`() {
        var world = world { $0.suspend = .never }
        world.ask(.beginInterruption("call"))
        #expect(world.core.conditions(of: Self.clock) == [.interruption("call")])
        world.ask(.machine(.lock))
        #expect(world.core.conditions(of: Self.clock).contains(.foregroundBlocked(.locked)))
        world.ask(.machine(.unlock))
        world.ask(.endInterruption("call"))
        world.ask(.home)
        world.pass(.seconds(10))
        #expect(world.core.conditions(of: Self.clock) == [.policy])
        world.give(.define(Self.mail, Policy()))
        world.ask(.launch(Self.mail, background: true))
        world.ask(.resume(Self.mail))
        world.pass(.seconds(10))
        #expect(world.core.conditions(of: Self.mail) == [.request])
        world.give(.stoppedByOther, of: Self.mail)
        #expect(world.core.conditions(of: Self.mail) == [.request, .stoppedByOther])
    }

    @Test func `app that keeps ending has its restart as a condition, then the restart limit`() {
        var world = world { $0.restart = .always }
        let crash = Outcome.exited(.code(1), othersLeft: false)
        world.give(crash, of: Self.clock)
        world.give(crash, of: Self.clock)
        #expect(world.core.conditions(of: Self.clock) == [.restart(at: instant(1000))])
        #expect(lines(world).first == "1000 notRunning → inactive (restart)")
        for _ in 0..<20 {
            world.pass(.seconds(59))
            world.give(crash, of: Self.clock)
        }
        #expect(world.core.conditions(of: Self.clock) == [.restartLimitReached])
    }

    @Test func `task that an app performs is a condition until its deadline`() {
        var world = world(linked: true)
        world.ask(.home)
        world.silent[Self.clock] = [.performTask]
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(world.core.conditions(of: Self.clock) == [.work(kind: "fetch", until: instant(30_000))])
        #expect(
            lines(world) == ["30000 overdue perform-task", "30000 background → suspended (wake)"]
                || lines(world).last == "30000 background → suspended (idle)")
    }

    @Test func `unknown app has no condition and no forecast`() {
        #expect(Engine().conditions(of: Self.clock).isEmpty)
        #expect(Engine().forecast(of: Self.clock).isEmpty)
    }

    @Test func `looking ahead ends, whatever there is to see`() {
        var world = World(apps: "clock")
        for number in 0..<400 {
            let id = AppID("app-\(number)")
            world.give(.define(id, Policy()))
            world.ask(.launch(id, background: true))
        }
        #expect(world.core.forecast(of: Self.clock).isEmpty)
    }
}

extension Prospect.Event {
    fileprivate var line: String {
        switch self {
        case .transition(let from, let to, let reason): "\(from.rawValue) → \(to.rawValue) (\(reason))"
        case .callback(let callback): "told \(callback.rawValue)"
        case .callbackOverdue(let callback): "overdue \(callback.rawValue)"
        case .tasksExpire: "tasks expire"
        case .terminate: "terminate"
        case .kill: "kill"
        }
    }
}
