import Simulation
import Testing

@testable import LifecycleCore

/// Every kind of deadline over restarts of the daemon: the time that is left does not begin anew, and is not cut short.
@Suite struct DeadlineRestartTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    /// A deadline of the clock that runs when its daemon is killed.
    struct Running: Sendable, CustomTestStringConvertible {
        let kind: DeadlineKind
        var name = ""
        /// The time that a connected app gets, while it may still reconnect, by ``AppMachine/reconnectionTime``.
        var waitsForReconnection = false
        /// True unless the end of its channel is what the deadline is about.
        var reconnects = true
        var policy = Policy()
        let begin: @Sendable (inout World) -> Void

        var testDescription: String { name.isEmpty ? kind.rawValue : "\(kind.rawValue), \(name)" }

        /// The world in which it runs, and the instant of its end.
        func world() throws -> (world: World, end: Instant) {
            var world = World(apps: "maps", linked: true)
            world.linked.insert(clock)
            world.give(.define(clock, policy))
            begin(&world)
            let end = try #require(world.core.deadline(kind, of: clock))
            #expect(end > world.now)
            return (world, end)
        }

        func kept(_ world: inout World) {
            guard reconnects else { return }
            for id in [clock, maps] { world.give(.reconnected(lastSequence: world.sequence(of: id)), from: id) }
        }
    }

    private static func policy(_ change: (inout Policy) -> Void) -> Policy {
        var policy = Policy()
        change(&policy)
        return policy
    }

    private static let launch = Request.launch(clock, background: false)
    private static let scenes = policy { $0.scenes = true }

    static let table: [Running] = [
        Running(kind: .answer, waitsForReconnection: true) { world in
            world.silent[clock] = [.didEnterBackground]
            world.ask(launch)
            world.ask(.home)
        },
        Running(kind: .answer, name: "after another callback", waitsForReconnection: true) { world in
            world.ask(launch)
            world.silent[clock] = [.significantTimeChange, .willResignActive]
            world.ask(.machine(.timeChange))
            world.ask(.home)
            world.pass(.milliseconds(4_800))
            world.answerFirst(.significantTimeChange, of: clock)
        },
        Running(kind: .resignation) { world in
            world.ask(launch)
            world.silent[clock] = [.willResignActive]
            world.ask(.launch(maps, background: false))
        },
        Running(kind: .background) { world in
            world.linked.remove(clock)
            world.ask(launch)
            world.ask(.home)
        },
        Running(kind: .launch, waitsForReconnection: true, policy: policy { $0.callbacks = .required }) { world in
            world.silent[clock] = [.willFinishLaunching]
            world.ask(launch)
        },
        Running(kind: .exit, reconnects: false) { world in
            world.ask(launch)
            world.give(.closed, from: clock)
        },
        Running(kind: .tasks) { world in
            world.ask(launch)
            world.give(.beginTask(1, name: "upload"), from: clock)
            world.ask(.home)
        },
        Running(kind: .taskExpiration, waitsForReconnection: true) { world in
            world.ask(launch)
            world.give(.beginTask(1, name: "upload"), from: clock)
            world.ask(.home)
            world.pass(.seconds(30))
        },
        Running(kind: .performTask, waitsForReconnection: true) { world in
            world.silent[clock] = [.performTask]
            world.ask(launch)
            world.ask(.wake(clock, kind: "fetch", payload: ""))
        },
        Running(kind: .hello) { world in
            world.linked.remove(clock)
            world.ask(.deliver(clock, .openURL("lifed:1")))
        },
        Running(kind: .woken, policy: policy { $0.callbacks = .none }) { world in
            world.linked.remove(clock)
            world.ask(.wake(clock, kind: "fetch", payload: ""))
        },
        Running(kind: .sceneDisconnection, policy: scenes) { world in
            world.silent[clock] = [.sceneDidDisconnect]
            world.ask(launch)
            world.ask(.terminate(clock))
        },
        Running(kind: .termination) { world in
            world.stubborn = [clock]
            world.ask(launch)
            world.ask(.terminate(clock))
        },
        Running(kind: .termination, name: "after the scenes", policy: scenes) { world in
            world.silent[clock] = [.sceneDidDisconnect]
            world.stubborn = [clock]
            world.ask(launch)
            world.ask(.terminate(clock))
            world.pass(.milliseconds(2_500))
        },
        Running(kind: .killed) { world in
            world.withholding = [.killed]
            world.ask(launch)
            world.ask(.kill(clock))
        },
        Running(kind: .signal) { world in
            world.ask(launch)
            world.ask(.home)
            world.give(.signalPending, of: clock)
        },
        Running(kind: .restart, policy: policy { $0.restart = .always }) { world in
            world.ask(launch)
            for _ in 0..<3 {
                if let due = world.core.deadline(.restart, of: clock) { world.pass(due.duration(since: world.now)) }
                world.give(.exited(.signal(11), othersLeft: false), of: clock)
            }
        },
    ]

    @Test func everyKindIsInTheTable() {
        // An app has its time to reconnect because of the restart.
        #expect(Set(Self.table.map(\.kind)).union([.reconnection]) == Set(DeadlineKind.allCases))
    }

    @Test(arguments: table)
    func deadlineEndsAsWithoutTheRestartWhenTheChannelIsKept(running: Running) throws {
        var (world, end) = try running.world()
        for _ in 0..<2 {
            world.now = world.now + end.duration(since: world.now) / 2
            world = world.restored(running.policy, before: running.kept)
            #expect(world.core.deadline(running.kind, of: Self.clock) == end)
        }
        #expect(world.core.savedEnd(running.kind, of: Self.clock) == end)
    }

    @Test(arguments: table)
    func deadlineEndsAsWithoutTheRestartWhenTheAppHasReconnected(running: Running) throws {
        var (world, end) = try running.world()
        for _ in 0..<2 {
            world.now = world.now + end.duration(since: world.now) / 2
            world = world.restored(running.policy)
            #expect(world.core.savedEnd(running.kind, of: Self.clock) == end)
            running.kept(&world)
            #expect(world.core.deadline(running.kind, of: Self.clock) == end)
        }
    }

    @Test(arguments: table)
    func deadlineOfAnAppThatIsAwayWaitsNoLongerThanTheReconnection(running: Running) throws {
        var (world, end) = try running.world()
        world.now = world.now + end.duration(since: world.now) / 2
        world = world.restored(running.policy)
        let away = world.now + AppMachine.reconnectionTime
        let due = world.core.deadline(running.kind, of: Self.clock)
        #expect(due == (running.waitsForReconnection ? away : end))
    }

    @Test(arguments: table)
    func deadlineThatPassedWithoutADaemonLeavesTimeToReadWhatTheAppSaid(running: Running) throws {
        var (world, end) = try running.world()
        world.now = end + .seconds(1)
        world = world.restored(running.policy, before: running.kept)
        let isDueAtOnce = running.kind == .killed || running.kind == .restart
        #expect(
            world.core.deadline(running.kind, of: Self.clock)
                == (isDueAtOnce ? end : world.now + AppMachine.readingTime))
        #expect(world.core.savedEnd(running.kind, of: Self.clock) == end)
    }

    @Test(arguments: [DeadlineKind.answer, .performTask, .resignation])
    func answerToWhatTheAppHasNotReceivedHasTheWholeTime(kind: DeadlineKind) throws {
        let running = try #require(Self.table.first { $0.kind == kind })
        var (world, end) = try running.world()
        let time = end.duration(since: world.now)
        world.now = world.now + time / 2
        world = world.restored(running.policy)
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock) - 1), from: Self.clock)
        #expect(world.core.deadline(kind, of: Self.clock) == world.now + time)
        #expect(world.told[Self.clock]?.last?.deadline == world.now + time)
    }

    // MARK: A launch

    @Test(arguments: [false, true])
    func launchCallbackAfterARestartHasTheTimeThatIsLeft(isReceived: Bool) throws {
        let running = try #require(Self.table.first { $0.kind == .launch })
        var (world, end) = try running.world()
        world.silent[Self.clock] = [.willFinishLaunching, .didFinishLaunching]
        world.now = world.now + .seconds(8)
        world = world.restored(running.policy)
        let last = world.sequence(of: Self.clock)
        world.now = world.now + .seconds(4)
        world.give(.reconnected(lastSequence: isReceived ? last : last - 1), from: Self.clock)
        if isReceived { world.answer(Self.clock) }
        #expect(world.told[Self.clock]?.last?.callback == (isReceived ? .didFinishLaunching : .willFinishLaunching))
        #expect(world.told[Self.clock]?.last?.deadline == end)
        world.pass(end.duration(since: world.now) - .milliseconds(1))
        #expect(world.state("clock") == .inactive)
        world.pass(.milliseconds(1))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .launchTimeout)
    }

    @Test func appThatDoesNotReconnectInItsLaunchIsKilledWhenItIsNotWaitedForAnyLonger() throws {
        let running = try #require(Self.table.first { $0.kind == .launch })
        var world = try running.world().world.restored(running.policy)
        world.pass(AppMachine.foregroundReconnectionTime * 2 - .milliseconds(1))
        #expect(world.state("clock") == .inactive)
        world.pass(AppMachine.reconnectionTime)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .launchTimeout)
    }

    // MARK: The end

    @Test(arguments: [false, true])
    func sceneDidDisconnectIsAwaitedOverARestart(isKept: Bool) throws {
        let running = try #require(Self.table.first { $0.kind == .sceneDisconnection })
        var (world, end) = try running.world()
        world.stubborn = [Self.clock]
        world.now = world.now + .seconds(1)
        world = world.restored(running.policy) { world in if isKept { running.kept(&world) } }
        #expect(!world.lines().contains("terminate clock"))
        world.pass(end.duration(since: world.now) - .milliseconds(1))
        #expect(!world.lines().contains("terminate clock"))
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("terminate clock"))
        #expect(world.core.deadline(.termination, of: Self.clock) == end + .milliseconds(2_500))
    }

    @Test func appThatReconnectsAndHasDisconnectedItsScenesIsAskedToEndAtOnce() throws {
        let running = try #require(Self.table.first { $0.kind == .sceneDisconnection })
        var world = try running.world().world
        world.now = world.now + .seconds(1)
        world = world.restored(running.policy)
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        _ = world.lines()
        world.answer(Self.clock)
        #expect(world.lines().contains("terminate clock"))
    }

    @Test func appWhoseScenesEndedWithoutADaemonHasHalfOfTheTerminationTimeout() throws {
        let running = try #require(Self.table.first { $0.kind == .sceneDisconnection })
        var (world, end) = try running.world()
        world.stubborn = [Self.clock]
        world.now = end + .seconds(60)
        world = world.restored(running.policy)
        world.pass(AppMachine.readingTime)
        #expect(world.core.deadline(.termination, of: Self.clock) == world.now + .milliseconds(2_500))
    }

    // MARK: Tasks

    @Test func taskBegunBeforeItsAppWasStoppedHasTheSameTimeAfterARestart() {
        var world = World(apps: "clock", linked: true)
        world.ask(Self.launch)
        world.ask(.home)
        let start = world.now
        world.pass(.seconds(1))
        #expect(world.state("clock") == .suspended)
        world.withholding = [.resumed]
        // The line was written before the stop.
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.now = world.now + .seconds(3)
        world.withholding = []
        world = world.restored { world in
            world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        }
        #expect(world.state("clock") == .background)
        #expect(world.core.deadline(.tasks, of: Self.clock) == start + .seconds(30))
    }
}

extension Engine {
    /// The end of a deadline as it is saved.
    fileprivate func savedEnd(_ kind: DeadlineKind, of id: AppID) -> Instant? {
        knownApps.index(of: id).flatMap { shared.deadlines.saved($0).first { $0.kind == kind }?.instant }
    }
}

extension World {
    /// Has an app answer the first callback of this kind.
    fileprivate mutating func answerFirst(_ callback: Callback, of id: AppID) {
        guard let delivery = told[id]?.first(where: { $0.callback == callback }) else { return }
        give(.done(sequence: delivery.sequence), from: id)
    }
}
