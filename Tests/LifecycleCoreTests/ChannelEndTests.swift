import Testing

@testable import LifecycleCore

/// The end of a channel, judged together with the end of the process.
@Suite struct ChannelEndTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    private func running(_ names: String..., silent: Callback) -> World {
        var world = World(apps: "clock", "maps", linked: true)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        world.silent[Self.clock] = [silent]
        _ = world.lines()
        return world
    }

    private func crash(_ world: inout World) {
        world.give(.closed, from: Self.clock)
        world.pass(.milliseconds(5))
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
    }

    private func exit(_ world: World) -> (state: AppState?, reason: Reason?) {
        let exit = world.core.knownApps[Self.clock]?.lastExit
        return (exit?.state, exit?.reason)
    }

    @Test(arguments: [
        (Callback.willResignActive, AppState.active), (.didEnterBackground, .background),
    ])
    func crashInACallbackOnTheWayOutIsACrashInTheStateOfThatMoment(callback: Callback, state: AppState) {
        var world = running("clock", silent: callback)
        world.ask(.home)
        crash(&world)
        #expect(exit(world) == (state, .crash))
        #expect(!world.lines().contains { $0.contains("suspended") })
    }

    @Test func crashInWillEnterForegroundFailsTheFocus() {
        var world = running("clock", "maps", silent: .willEnterForeground)
        let focus = world.ask(.focus(Self.clock))
        crash(&world)
        #expect(world.replies[focus]?.name == "refused ended")
        #expect(exit(world) == (.background, .crash))
        #expect(!world.lines().contains { $0.contains("clock: inactive → active") })
    }

    @Test func crashWithATaskIsACrashInTheBackground() {
        var world = running("clock", silent: .memoryWarning)
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        crash(&world)
        #expect(exit(world) == (.background, .crash))
    }

    @Test func crashInAnEventFailsTheRequestThatSentIt() {
        var world = running("clock", silent: .openURL)
        let open = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        crash(&world)
        #expect(world.replies[open]?.name == "refused ended")
    }

    @Test func crashInAWorkRequestFailsTheWake() {
        var world = running("clock", "maps", silent: .performTask)
        let wake = world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        crash(&world)
        #expect(world.replies[wake]?.name == "refused ended")
        #expect(exit(world) == (.background, .crash))
    }

    @Test func appThatClosesItsChannelInTheBackgroundHasTheTimeOfAnAppWithoutOne() {
        var world = running("clock", silent: .didEnterBackground)
        world.ask(.home)
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime + .milliseconds(4999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
    }

    /// The answer is due at the end of that second, or within it.
    @Test(arguments: [4000, 4500])
    func appThatClosesItsChannelBeforeItsAnswerIsDueHasThatTimeToo(milliseconds: Int) {
        var world = running("clock", silent: .didEnterBackground)
        world.ask(.home)
        world.pass(.milliseconds(milliseconds))
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime + .milliseconds(4999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func appThatKeepsClosingItsChannelCannotPutOffItsAnswer() {
        var world = running("clock", silent: .didEnterBackground)
        world.ask(.home)
        for _ in 0..<100 {
            world.give(.closed, from: Self.clock)
            world.pass(AppMachine.readingTime / 2)
            guard world.state("clock") == .background else { break }
            world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
            world.pass(AppMachine.readingTime / 2)
        }
        #expect(world.state("clock") != .background)
        #expect(world.now < Instant(microseconds: 8_000_000))
    }

    @Test func appWhoseChannelEndedCanBeEndedAtOnce() {
        var world = running("clock", "maps", silent: .memoryWarning)
        world.pass(.seconds(1))
        world.ask(.resume(Self.clock))
        world.give(.closed, from: Self.clock)
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        #expect(world.lines().contains("terminate clock"))
    }

    @Test func crashThatNoDaemonSawIsACrashInTheStateOfThatMoment() {
        var world = running("clock", silent: .willResignActive)
        world.ask(.home)
        world.give(.closed, from: Self.clock)
        world.now = world.now + .seconds(2)
        world = world.restored { world in
            world.give(.tick)
            world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        }
        #expect(exit(world) == (.active, .crash))
    }

    @Test func launchCallbacksHaveNoMoreThanTheTimeOfTheLaunch() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.callbacks = .required
        policy.timeouts.launch = .seconds(3)
        world.give(.define(Self.clock, policy))
        world.silent[Self.clock] = [.willFinishLaunching, .didFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world.give(.hello, from: Self.clock)
        world.pass(.seconds(2))
        let number = world.told[Self.clock]?.last?.sequence ?? 0
        world.give(.done(sequence: number), from: Self.clock)
        let delivery = world.told[Self.clock]?.last
        #expect(delivery?.callback == .didFinishLaunching)
        #expect(delivery?.deadline == Instant(microseconds: 3_000_000))
    }

    @Test func tasksThatExpireHaveTheTimeThatIsLeftAfterARestart() {
        var world = running("clock", silent: .memoryWarning)
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(31))
        world = world.restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        world.pass(.milliseconds(3999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(exit(world) == (.background, .taskTimeout))
    }

    @Test func appWhoseChannelEndedIsToldNothing() {
        var world = running("clock", silent: .openURL)
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.give(.closed, from: Self.clock)
        world.ask(.home)
        #expect(world.told[Self.clock]?.last?.callback == .openURL)
    }

    @Test func appThatReconnectsAfterTheEndOfItsChannelStaysConnected() {
        var world = running("clock", silent: .memoryWarning)
        world.give(.closed, from: Self.clock)
        world.pass(.milliseconds(500))
        world.reconnect(Self.clock)
        world.pass(.seconds(60))
        #expect(world.core.knownApps[Self.clock]?.isConnected == true)
    }

    @Test func appThatBeginsAnewGetsTheEventsThatItWasNotSent() {
        var world = running("clock", silent: .openURL)
        let sent = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.give(.closed, from: Self.clock)
        let waiting = world.ask(.deliver(Self.clock, .openURL("lifed:2")))
        // The new program was not there when the clock was set.
        world.ask(.machine(.timeChange))
        world.silent = [:]
        world.answers[Self.clock] = [.openURL: .handled(true)]
        _ = world.lines()
        world.give(.hello, from: Self.clock)
        #expect(world.replies[sent]?.name == "unanswered" && world.replies[waiting]?.name == "handled")
        let lines = world.lines()
        #expect(
            lines.filter { $0.hasPrefix("! clock open-url") } == [
                "! clock open-url unanswered", "! clock open-url handled",
            ])
        #expect(
            lines.filter { $0.hasPrefix("clock ←") } == [
                "clock ← will-finish-launching", "clock ← did-finish-launching", "clock ← open-url",
                "clock ← did-become-active",
            ])
    }

    @Test func appThatBeginsAnewMustAnswerTheLaunchCallbacksAgain() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(60))
        world.silent[Self.clock] = [.didFinishLaunching]
        world.give(.closed, from: Self.clock)
        world.give(.hello, from: Self.clock)
        world.pass(.milliseconds(19_999))
        #expect(world.state("clock") == .inactive)
        world.pass(.milliseconds(1))
        #expect(exit(world) == (.inactive, .launchTimeout))
    }

    @Test func appThatBeginsAnewDuringItsLaunchHasTheTimeThatIsLeft() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.silent[Self.clock] = [.willFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(10))
        world.give(.closed, from: Self.clock)
        world.give(.hello, from: Self.clock)
        world.pass(.milliseconds(9_999))
        #expect(world.state("clock") == .inactive)
        world.pass(.milliseconds(1))
        #expect(exit(world) == (.inactive, .launchTimeout))
    }

    @Test func appThatConnectsAgainAfterAnOverdueAnswerStaysConnected() {
        var world = running("clock", silent: .significantTimeChange)
        world.ask(.machine(.timeChange))
        world.pass(.milliseconds(4_800))
        world.give(.closed, from: Self.clock)
        world.pass(.milliseconds(200))
        world.give(.hello, from: Self.clock)
        world.pass(.seconds(60))
        #expect(world.core.knownApps[Self.clock]?.isConnected == true)
    }

    @Test func channelThatEndsLateInTheReconnectionTimeHasTheTimeOfAnExit() {
        var world = running("clock", silent: .memoryWarning).restored()
        world.pass(.milliseconds(34_500))
        world.give(.closed, from: Self.clock)
        world.pass(.milliseconds(999))
        #expect(world.core.knownApps[Self.clock]?.isConnected == true)
        world.pass(.milliseconds(1))
        #expect(world.core.knownApps[Self.clock]?.isConnected == false)
    }

    @Test func appWhoseChannelEndedBehindAResignationWaitsForNoAnswer() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.didBecomeActive, .willResignActive]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime)
        #expect(world.state("clock") == .background)
    }

    @Test(arguments: [34_000, 34_500])
    func appWhoseChannelEndedAndWhoseTasksAreOverdueIsNotKilled(milliseconds: Int) {
        var world = running("clock", silent: .memoryWarning)
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.milliseconds(milliseconds))
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime)
        #expect(world.state("clock") == .background)
        #expect(world.core.knownApps[Self.clock]?.isConnected == false)
        #expect(!world.lines().contains("kill clock"))
    }

    @Test func suspendedAppWhoseChannelEndedCanBeEndedAtOnce() {
        var world = running("clock", silent: .memoryWarning)
        world.ask(.home)
        world.withholding = [.stopped]
        world.give(.resumedByOther, of: Self.clock)
        world.give(.closed, from: Self.clock)
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        #expect(world.lines().contains("terminate clock"))
    }

    @Test func suspendedAppThatIsNeededAndThatAnotherProgramResumesRunsAtOnce() {
        var world = running("clock", silent: .memoryWarning)
        world.ask(.home)
        world.give(.closed, from: Self.clock)
        world.ask(.focus(Self.clock))
        _ = world.lines()
        world.give(.resumedByOther, of: Self.clock)
        #expect(world.lines() == ["resume clock", "clock: suspended → background (focus)"])
    }
}
