import Simulation
import Testing

@testable import LifecycleCore

/// Apps that a client restarts: they end, and are launched again, whatever comes in between.
@Suite struct RestartRequestTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    private func world(scenes: Bool = false, settings: Settings = Settings()) -> World {
        var world = World(apps: "clock", "maps", linked: true, settings: settings)
        var policy = Policy()
        policy.scenes = scenes
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        return world
    }

    /// The clock is active, is asked to end, and does not answer that.
    private func endingWorld(scenes: Bool = false, settings: Settings = Settings()) -> (World, UInt64) {
        var world = world(scenes: scenes, settings: settings)
        world.silent[Self.clock] = scenes ? [.sceneDidDisconnect] : [.willResignActive]
        _ = world.lines()
        let restart = world.ask(.restart(Self.clock))
        return (world, restart)
    }

    @Test(arguments: [false, true])
    func activeAppEndsAndIsLaunchedAgain(scenes: Bool) {
        var (world, restart) = endingWorld(scenes: scenes)
        #expect(world.replies[restart] == nil)
        world.silent = [:]
        world.answer(Self.clock)
        world.pass(.seconds(3))
        let steps = world.lines().filter { ["spawn clock", "terminate clock"].contains($0) }
        #expect(steps == ["terminate clock", "spawn clock"])
        #expect(world.replies[restart]?.doneApp == Self.clock)
        #expect(world.state("clock") == .active)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
        #expect(world.core.knownApps[Self.clock]?.launch.reason == .launch)
    }

    @Test func requestForTheEndIsAnsweredByTheEndBeforeTheNextLaunch() {
        var world = world()
        world.stubborn = [Self.clock]
        let terminate = world.ask(.terminate(Self.clock))
        let restart = world.ask(.restart(Self.clock))
        #expect(world.replies[terminate] == nil && world.replies[restart] == nil)
        world.withholding = [.spawned]
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect(world.replies[terminate]?.name == "done")
        world.give(.spawned, of: Self.clock)
        #expect(world.state("clock") != .notRunning)
    }

    @Test func appThatDoesNotResignIsRestartedWhenItsTimeIsOver() {
        var (world, restart) = endingWorld()
        world.pass(.milliseconds(999))
        #expect(world.replies[restart] == nil)
        world.silent = [:]
        world.pass(.milliseconds(1))
        #expect(world.replies[restart]?.doneApp == Self.clock)
    }

    @Test func otherAppsStayWhereTheyAre() {
        var settings = Settings()
        settings.homeApp = Self.maps
        var (world, restart) = endingWorld(settings: settings)
        world.silent = [:]
        world.pass(.seconds(1))
        #expect(world.replies[restart]?.doneApp == Self.clock)
        #expect(!world.lines().contains { $0.hasPrefix("maps") || $0.hasSuffix("maps") })
    }

    @Test(arguments: [false, true])
    func backgroundAppIsLaunchedInTheBackground(isKeptRunning: Bool) {
        var world = world()
        world.ask(.home)
        if isKeptRunning { world.ask(.resume(Self.clock)) }
        _ = world.lines()
        let restart = world.ask(.restart(Self.clock))
        #expect(world.lines().contains("spawn clock"))
        #expect(world.replies[restart]?.doneApp == Self.clock)
        #expect(world.core.foreground.isEmpty)
    }

    @Test func appThatDoesNotRunIsLaunched() {
        var world = World(apps: "clock")
        let restart = world.ask(.restart(Self.clock))
        #expect(world.replies[restart]?.doneApp == Self.clock)
        #expect(world.state("clock") == .active)
    }

    @Test func appThatEndsByItselfIsLaunchedAgain() {
        for outcome in [Outcome.exited(.code(0), othersLeft: false), .exited(.signal(11), othersLeft: true), .gone] {
            var (world, restart) = endingWorld()
            world.silent = [:]
            world.give(outcome, of: Self.clock)
            world.pass(.seconds(5))
            #expect(world.replies[restart]?.doneApp == Self.clock)
            #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
        }
    }

    @Test func appThatIsStartedIsStartedOnceMore() {
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        let launch = world.ask(.launch(Self.clock, background: false))
        let restart = world.ask(.restart(Self.clock))
        #expect(world.replies[launch]?.name == "refused superseded")
        world.withholding = []
        _ = world.lines()
        world.give(.spawned, of: Self.clock)
        #expect(world.lines().filter { $0.contains("clock") && !$0.contains("→") }.contains("spawn clock"))
        #expect(world.replies[restart]?.doneApp == Self.clock)
    }

    @Test func startThatDoesNotEndIsAborted() {
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        world.ask(.launch(Self.clock, background: false))
        let restart = world.ask(.restart(Self.clock))
        world.withholding = []
        world.pass(.seconds(5))
        #expect(world.replies[restart]?.doneApp == Self.clock)
        let steps = world.lines().filter { $0 == "kill clock" || $0 == "spawn clock" }
        #expect(steps == ["spawn clock", "kill clock", "spawn clock"])
    }

    @Test func requestsBeforeItAreRefused() {
        var world = world()
        world.silent[Self.clock] = [.openURL, .willResignActive]
        let url = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        let next = world.ask(.deliver(Self.clock, .openURL("lifed:2")))
        world.ask(.restart(Self.clock))
        #expect([url, next].map { world.replies[$0]?.name } == ["refused superseded", "refused superseded"])
        // The app has the first.
        #expect(world.lines().filter { $0 == "! clock open-url lost" }.count == 1)
    }

    /// It waits for the app to become inactive, which the end does.
    @Test func interruptionBeforeItIsNotRefused() {
        var world = world()
        world.silent[Self.clock] = [.willResignActive]
        let interruption = world.ask(.beginInterruption("call"))
        world.ask(.restart(Self.clock))
        #expect(world.replies[interruption] == nil)
        world.pass(.seconds(10))
        #expect(world.replies[interruption]?.name == "done")
    }

    @Test func nextLaunchHasAReasonOfItsOwn() {
        var world = World(apps: "clock", linked: true)
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        #expect(world.core.knownApps[Self.clock]?.launch.reason == .url)
        _ = world.lines()
        world.ask(.restart(Self.clock))
        #expect(world.core.knownApps[Self.clock]?.launch.reason == .launch)
        #expect(world.lines().contains("clock: inactive → active (launch)"))
    }

    @Test(arguments: [false, true])
    func restartInTheForegroundCancelsTheReturnOfAnotherApp(background: Bool) {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = world(settings: settings)
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.maps, policy))
        world.ask(.launch(Self.maps, background: false))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.maps) }
        if background { world.ask(.background(Self.clock)) }
        #expect(world.core.returningApps == [Self.maps])
        world.ask(.restart(Self.clock))
        #expect(world.core.returningApps == (background ? [Self.maps] : []))
    }

    @Test func appThatCannotBeToldToResignIsNotRestartedIfItIsToEnd() {
        var world = world().restored()
        let restart = world.ask(.restart(Self.clock))
        world.ask(.terminate(Self.clock))
        #expect(world.replies[restart]?.name == "refused superseded")
    }

    @Test func foregroundAppRestartsBehindTheLockToo() {
        var world = world()
        world.ask(.machine(.lock))
        _ = world.lines()
        let restart = world.ask(.restart(Self.clock))
        #expect(world.replies[restart] == .refused(.foregroundBlocked(Self.clock, by: .locked)))
        let steps = world.lines().filter { ["spawn clock", "terminate clock"].contains($0) }
        #expect(steps == ["terminate clock", "spawn clock"])
    }

    @Test func appThatIsBeingReclaimedIsSpared() {
        var world = world(scenes: true)
        world.give(.define(Self.maps, Policy()))
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.clock] = [.sceneDidDisconnect]
        world.looks = [.critical]
        world.give(.memory(.veryShort))
        world.pass(.seconds(1))
        #expect(world.core.round?.victimID == Self.clock && world.core.round?.phase == .ending)
        world.ask(.restart(Self.clock))
        #expect(world.core.knownApps[Self.clock]?.reclaimed == nil)
    }

    @Test func timeForWorkEndsWithTheProcess() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: true))
        world.pass(.seconds(60))
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(world.state("clock") == .background)
        world.ask(.restart(Self.clock))
        world.pass(.seconds(10))
        #expect(world.state("clock") == .suspended)
    }

    @Test func requestsSinceAreForTheNextLaunch() {
        var (world, restart) = endingWorld()
        world.answers[Self.clock] = [.openURL: .handled(true)]
        let launch = world.ask(.launch(Self.clock, background: false))
        let url = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        let again = world.ask(.restart(Self.clock))
        #expect([restart, launch, url, again].allSatisfy { world.replies[$0] == nil })
        world.silent = [:]
        world.pass(.seconds(1))
        #expect([restart, launch, again].allSatisfy { world.replies[$0]?.doneApp == Self.clock })
        #expect(world.replies[url]?.name == "handled")
        #expect(world.lines().count { $0 == "spawn clock" } == 1)
    }

    @Test func requestsForTheRunningAppAreRefused() throws {
        var (world, _) = endingWorld(scenes: true)
        let notes = try #require(SceneID("notes"))
        let requests: [Request] = [
            .focus(Self.clock), .background(Self.clock), .suspend(Self.clock), .resume(Self.clock),
            .openScene(Self.clock, SceneOpening(scene: notes), background: false), .focusScene(Self.clock, notes),
        ]
        for request in requests {
            let number = world.ask(request)
            #expect(world.replies[number]?.name == "refused terminating")
        }
    }

    @Test(arguments: [Request.terminate(clock), .kill(clock)])
    func endThatIsAskedForLaterCancelsTheLaunch(end: Request) {
        var (world, restart) = endingWorld()
        let last = world.ask(end)
        #expect(world.replies[restart]?.name == "refused superseded")
        world.pass(.seconds(1))
        #expect(world.replies[last]?.name == "done")
        #expect(world.state("clock") == .notRunning)
        #expect(!world.lines().contains("spawn clock"))
    }

    @Test func appThatIsDisplacedMeanwhileIsLaunchedInTheBackground() {
        var (world, restart) = endingWorld()
        world.ask(.launch(Self.maps, background: false))
        world.silent = [:]
        world.pass(.seconds(1))
        #expect(world.replies[restart]?.name == "refused superseded")
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
        #expect(world.core.foreground == [Self.maps])
        #expect(world.state("clock") == .suspended)
    }

    @Test func appThatIsKilledForItsTasksMeanwhileIsLaunchedAgain() {
        var world = world(scenes: true)
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(33))
        world.silent[Self.clock] = [.sceneDidDisconnect]
        _ = world.lines()
        let restart = world.ask(.restart(Self.clock))
        world.pass(.seconds(2))
        #expect(world.lines().filter { $0 == "kill clock" || $0 == "spawn clock" } == ["kill clock", "spawn clock"])
        #expect(world.replies[restart]?.doneApp == Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .taskTimeout)
    }

    @Test func daemonThatIsKilledMeanwhileContinuesTheRestart() {
        for reconnects in [false, true] {
            var (world, _) = endingWorld()
            world = world.restored()
            world.silent = [:]
            #expect(world.core.foreground == [Self.clock])
            if reconnects {
                world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
            }
            world.pass(.seconds(36))
            #expect(world.lines().filter { $0 == "spawn clock" } == ["spawn clock"])
            #expect(world.state("clock") == .active)
        }
    }
}
