import Testing

@testable import LifecycleCore

@Suite struct RequestTests {
    static let clock = AppID("clock")

    @Test func `impossible request is refused with a reason`() {
        var world = World(apps: "clock")
        #expect(world.replies[world.ask(.focus(AppID("cloc")))] == .refused(.noSuchApp(AppID("cloc"))))
        for request in [Request.focus(Self.clock), .suspend(Self.clock), .resume(Self.clock), .terminate(Self.clock)] {
            #expect(world.replies[world.ask(request)] == .refused(.notRunning(Self.clock)))
        }
        world.broken = [Self.clock]
        let launch = world.ask(.launch(Self.clock, background: false))
        #expect(world.replies[launch] == .refused(.launchFailed(Self.clock, .noSuchProgram)))
        #expect(world.core.foreground.isEmpty)
    }

    @Test func `an app that is never suspended stays awake`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.suspend = .never
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        world.pass(.seconds(60))
        #expect(world.state("clock") == .background)
        #expect(world.replies[world.ask(.suspend(Self.clock))] == .refused(.neverSuspended(Self.clock)))
    }

    @Test func `resumed app runs until it is suspended or has been in the foreground`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        world.ask(.resume(Self.clock))
        world.pass(.seconds(60))
        #expect(world.state("clock") == .background)
        world.ask(.focus(Self.clock))
        world.ask(.home)
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `a foreign SIGCONT does not wake for good`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        _ = world.lines()
        world.give(.resumedByOther, of: Self.clock)
        #expect(world.lines() == ["! stop renewed", "stop clock"])
        #expect(world.state("clock") == .suspended)
    }

    @Test func `refusal names the process that does not stop, and the stop goes on`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.withholding = [.stopped]
        let suspend = world.ask(.suspend(Self.clock))
        world.give(.stopIncomplete(.stuck), of: Self.clock)
        #expect(world.replies[suspend] == .refused(.notStopped(Self.clock, .stuck)))
        #expect(world.lines().contains("! stop incomplete"))
        world.give(.stopped, of: Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func `crash answers the requests that wait for the app`() {
        var world = World(apps: "clock")
        world.withholding = [.stopped]
        world.ask(.launch(Self.clock, background: false))
        let suspend = world.ask(.suspend(Self.clock))
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        guard case .refused(.ended(Self.clock, let exit)) = world.replies[suspend] else {
            Issue.record("\(String(describing: world.replies[suspend]))")
            return
        }
        #expect(exit.reason == .crash && exit.status == .signal(11))
    }

    @Test func `interruptions have a limit, and one name counts once`() {
        var world = World(apps: "clock")
        let limit = Engine.interruptionLimit
        for number in 0..<limit { world.ask(.beginInterruption("\(number)")) }
        #expect(world.replies[world.ask(.beginInterruption("0"))] == .done(nil))
        let refusal = world.replies[world.ask(.beginInterruption("more"))]
        #expect(refusal == .refused(.tooManyInterruptions(limit: limit)))
        world.ask(.endInterruption("0"))
        #expect(world.replies[world.ask(.beginInterruption("more"))] == .done(nil))
    }

    @Test func `the kernel has its time to end an app that gets none`() {
        var settings = Settings()
        settings.timeouts.termination = .zero
        var world = World(apps: "clock", settings: settings)
        world.stubborn = [Self.clock]
        world.withholding = [.killed]
        world.ask(.launch(Self.clock, background: false))
        let end = world.ask(.terminate(Self.clock))
        world.pass(.milliseconds(4999))
        #expect(world.replies[end] == nil)
        world.pass(.milliseconds(1))
        #expect(world.replies[end] == .refused(.notGone(Self.clock)))
    }

    @Test func `a start that hangs can be killed, and is when its termination timeout is over`() {
        for request in [Request.kill(Self.clock), .terminate(Self.clock)] {
            var world = World(apps: "clock")
            world.withholding = [.spawned]
            world.ask(.launch(Self.clock, background: false))
            let end = world.ask(request)
            if request == .terminate(Self.clock) { world.pass(.seconds(5)) }
            #expect(world.lines().contains("kill clock"))
            #expect(world.replies[end]?.doneApp == Self.clock)
            #expect(world.core.runningCount == 0)
        }
    }

    @Test func `an app that is launched again while its start is being aborted is launched anew`() {
        var world = World(apps: "clock")
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.kill(Self.clock))
        let launch = world.ask(.launch(Self.clock, background: false))
        world.withholding = []
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
        #expect(world.lines().filter { $0 == "spawn clock" }.count == 2)
        #expect(world.replies[launch]?.doneApp == Self.clock)
        #expect(world.state("clock") == .active)
    }

    @Test func `an app that is launched again in the termination timeout of its start goes on`() {
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        let launch = world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(10))
        world.give(.spawned, of: Self.clock)
        #expect(world.replies[launch]?.doneApp == Self.clock)
        #expect(!world.lines().contains("kill clock"))
    }

    @Test func `the rest of a tree goes with its main process`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.give(.exited(.code(0), othersLeft: true), of: Self.clock)
        #expect(world.state("clock") == .terminating)
        _ = world.lines()
        world.pass(.seconds(5))
        #expect(world.lines().prefix(2) == ["! termination overdue", "kill clock"])
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .exit)
    }

    @Test func `shutting down ends every app, at the same time, and starts none`() {
        var world = World(apps: "clock", "maps", "mail")
        for name in ["clock", "maps"] { world.ask(.launch(AppID(name), background: false)) }
        world.stubborn = [Self.clock]
        world.give(.shutDown)
        #expect(world.replies[world.ask(.launch(AppID("mail"), background: false))] == .refused(.shuttingDown))
        #expect(!world.lines().contains("finished"))
        world.pass(.seconds(5))
        #expect(world.lines().last == "finished")
        #expect(world.core.runningCount == 0)
    }

    @Test func `an ad-hoc app is forgotten with its last process`() {
        var world = World()
        var policy = Policy()
        policy.isTransient = true
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        let end = world.ask(.terminate(Self.clock))
        #expect(world.replies[end]?.doneApp == Self.clock)
        #expect(world.core.knownApps[Self.clock] == nil)
        #expect(world.lines().last == "forgotten clock")
    }

    static let everything: [Request] = [
        .launch(clock, background: true), .launch(clock, background: false), .focus(clock), .suspend(clock),
        .resume(clock), .deliver(clock, .openURL("lifed:1")), .wake(clock, kind: "fetch", payload: ""),
        .openScene(clock, SceneOpening(), background: false), .focusScene(clock, SceneID(ordinal: 1)),
        .backgroundScene(clock, SceneID(ordinal: 1)), .closeScene(clock, SceneID(ordinal: 1)), .terminate(clock),
        .kill(clock),
    ]

    @Test(arguments: everything)
    func `request for an unknown app is refused`(request: Request) {
        var world = World()
        #expect(world.replies[world.ask(request)] == .refused(.noSuchApp(Self.clock)))
    }

    @Test func `kill hastens a shutdown, during which a lock is answered`() {
        var world = World(apps: "clock", "maps")
        for name in ["maps", "clock"] { world.ask(.launch(AppID(name), background: false)) }
        world.stubborn = [Self.clock]
        world.give(.shutDown)
        #expect(world.replies[world.ask(.home)] == .refused(.shuttingDown))
        #expect(world.replies[world.ask(.machine(.lock))]?.name == "done")
        #expect(world.replies[world.ask(.kill(Self.clock))]?.doneApp == Self.clock)
        #expect(world.lines().last == "finished")
    }

    @Test func `resumed app is suspended on request, and background time does not delay it`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        world.ask(.resume(Self.clock))
        world.ask(.suspend(Self.clock))
        #expect(world.state("clock") == .suspended)
        world.ask(.focus(Self.clock))
        world.ask(.home)
        #expect(world.state("clock") == .background)
        world.ask(.suspend(Self.clock))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `resume continues an app that another process stopped`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.give(.stoppedByOther, of: Self.clock)
        _ = world.lines()
        world.ask(.resume(Self.clock))
        #expect(world.lines() == ["reply 2 done", "resume clock"])
    }

    @Test(arguments: [false, true])
    func `shutdown time is that of the app with the longest end`(scenes: Bool) {
        var world = World(apps: "clock", "maps")
        var policy = Policy()
        policy.scenes = scenes
        policy.timeouts.termination = .seconds(20)
        world.give(.define(Self.clock, policy))
        #expect(world.core.longestTermination == .zero)
        for name in ["clock", "maps"] { world.ask(.launch(AppID(name), background: false)) }
        #expect(world.core.longestTermination == .seconds(26))
        world.ask(.kill(Self.clock))
        #expect(world.core.longestTermination == .seconds(11))
    }

    @Test func `resume does not change the reason of an app on its way to the foreground`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.resume(Self.clock))
        _ = world.lines()
        world.answer(Self.clock)
        #expect(world.lines().prefix(1) == ["clock: background → inactive (focus)"])
        world.ask(.home)
        world.ask(.resume(Self.clock))
        #expect(world.core.knownApps[Self.clock]?.reason == .resume)
    }

    @Test func `status of the main process is kept until the rest of its tree is gone`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.give(.exited(.code(3), othersLeft: true), of: Self.clock)
        world.give(.gone, of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.status == .code(3))
    }

    @Test(arguments: [World.Withheld.stopped, .resumed])
    func `app that is being stopped or resumed is terminated at once`(operation: World.Withheld) {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        if operation == .resumed { world.ask(.home) }
        world.withholding = [operation]
        world.ask(operation == .stopped ? .home : .focus(Self.clock))
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        let state = operation == .stopped ? "background" : "suspended"
        let lines = world.lines().filter { !$0.hasPrefix("reply") }
        #expect(lines.prefix(2) == ["clock: \(state) → terminating (terminate)", "terminate clock"])
    }

    @Test func `launch of an app that ends is refused for an interruption that keeps it inactive`() {
        var world = World(apps: "maps", linked: true)
        world.ask(.launch(AppID("maps"), background: false))
        world.ask(.beginInterruption("call"))
        world.stubborn = [AppID("maps")]
        world.ask(.terminate(AppID("maps")))
        let launch = world.ask(.launch(AppID("maps"), background: false))
        let restart = world.ask(.restart(AppID("maps")))
        let refusal = Reply.refused(.superseded(AppID("maps"), by: .interruption))
        #expect([launch, restart].allSatisfy { world.replies[$0] == refusal })
        world.pass(.seconds(5))
        #expect(world.state("maps") == .inactive)
    }

    @Test(arguments: [true, false], [Request.beginInterruption("call"), .home])
    func `launch that is superseded before its program runs is answered when that runs or fails`(
        fails: Bool, other: Request
    ) {
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        let launch = world.ask(.launch(Self.clock, background: false))
        world.ask(other)
        #expect(world.replies[launch] == nil)
        let failure = SystemFailure.noSuchProgram
        world.give(fails ? .spawnFailed(failure) : .spawned, of: Self.clock)
        let refusal =
            fails
            ? Refusal.launchFailed(Self.clock, failure)
            : .superseded(Self.clock, by: other == .home ? .home : .interruption)
        #expect(world.replies[launch] == .refused(refusal))
    }

    @Test func `superseded request names the reason`() {
        var world = World(apps: "clock", "maps", linked: true)
        for name in ["maps", "clock"] { world.ask(.launch(AppID(name), background: false)) }
        world.silent[Self.clock] = [.willResignActive]
        let focus = world.ask(.focus(AppID("maps")))
        world.ask(.home)
        #expect(world.replies[focus] == .refused(.superseded(AppID("maps"), by: .home)))
    }

    @Test func `background request for an app in the background does not wait for its answers`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.home)
        let background = world.ask(.background(Self.clock))
        #expect(world.replies[background]?.doneApp == Self.clock)
    }

    @Test func requestThatWaitsForTheAnswersOfABackgroundLaunchIsOneForTheLaunch() {
        var world = World(apps: "clock", linked: true)
        let launch = world.ask(.launch(AppID("clock"), background: true, untilAnswered: true))
        #expect(world.replies[launch]?.doneApp == AppID("clock"))
    }

    @Test(arguments: [false, true])
    func nextLaunchIsToldNothingThatTheLastOneWasStillToBeTold(crashes: Bool) {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        world.silent[clock] = [.willFinishLaunching]
        world.ask(.launch(clock, background: false))
        if crashes {
            world.give(.exited(.signal(11), othersLeft: false), of: clock)
        } else {
            world.ask(.kill(clock))
        }
        // Its next program does not connect.
        world.linked = []
        _ = world.lines()
        let launch = world.ask(.launch(clock, background: true))
        #expect(!world.lines().contains { $0.hasPrefix("clock ←") })
        #expect(world.replies[launch]?.doneApp == clock)
    }

    @Test func requestThatMovesAStartingAppIsNotTheReasonOfItsLaunch() {
        let clock = AppID("clock")
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        world.ask(.wake(clock, kind: "fetch", payload: ""))
        world.ask(.launch(clock, background: false))
        #expect(world.core.launch(of: clock)?.reason == .wake)
        // It is, if the app that is being started was killed, and is launched again.
        world.ask(.kill(clock))
        world.ask(.launch(clock, background: false))
        #expect(world.core.launch(of: clock)?.reason == .launch)
    }
}
