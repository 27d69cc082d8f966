import LifecycleCore
import Testing

/// SIGSTOP and SIGCONT from another program, in the middle of what the daemon does.
@Suite struct ForeignSignalTests {
    static let clock = AppID("clock")

    func running() -> World {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        return world
    }

    /// A Boolean value that indicates whether the app is continued when a request needs it.
    func isContinued(_ world: World) -> Bool {
        var world = world
        _ = world.lines()
        world.ask(.focus(Self.clock))
        return world.lines().contains("resume clock")
    }

    @Test func `stop by another process is noted for a running app only`() {
        var world = running()
        world.ask(.home)
        _ = world.lines()
        world.give(.stoppedByOther, of: Self.clock)
        #expect(world.lines() == [])
        world.ask(.resume(Self.clock))
        _ = world.lines()
        world.give(.stoppedByOther, of: Self.clock)
        #expect(world.lines() == ["! stopped by other"])
        #expect(isContinued(world))
    }

    @Test func `continuation by another process clears the stop`() {
        var world = running()
        world.give(.stoppedByOther, of: Self.clock)
        world.give(.resumedByOther, of: Self.clock)
        #expect(!isContinued(world))
    }

    @Test func `continuation by the daemon clears the stop by another process`() {
        var world = running()
        world.withholding = [.stopped, .resumed]
        world.ask(.home)
        world.ask(.focus(Self.clock))
        world.give(.stoppedByOther, of: Self.clock)
        world.give(.resumed, of: Self.clock)
        #expect(world.state("clock") == .active)
        #expect(!isContinued(world))
    }

    @Test func `suspended app that another process continued is suspended when it is seen stopped`() {
        var world = running()
        world.ask(.home)
        world.withholding = [.stopped]
        world.give(.resumedByOther, of: Self.clock)
        let suspend = world.ask(.suspend(Self.clock))
        #expect(world.replies[suspend] == nil)
        world.give(.stopped, of: Self.clock)
        #expect(world.replies[suspend]?.doneApp == Self.clock)
    }

    // MARK: A signal that ends the app

    /// A suspended app, of a daemon whose apps act in their own time.
    private func suspended(_ policy: Policy = Policy()) -> World {
        var world = World(apps: "clock", "maps", linked: true)
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        world.ask(.launch(AppID("maps"), background: false))
        #expect(world.state("clock") == .suspended)
        _ = world.lines()
        return world
    }

    @Test func appForWhichASignalWaitsIsContinuedAndItsEndTold() {
        var world = suspended()
        world.give(.signalPending, of: Self.clock)
        #expect(
            world.lines() == ["! signal pending", "resume clock", "clock: suspended → background (signalled)"])
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect(world.lines() == ["! clock exited (signalled)", "clock: background → notRunning (signalled)"])
        let exit = world.core.knownApps[Self.clock]?.lastExit
        #expect(exit?.state == .suspended && exit?.reason == .signalled && exit?.callsForRestoration == true)
    }

    @Test func focusOfAnAppThatEndsBySignalIsRefusedWithItsEnd() {
        var world = suspended()
        world.withholding = [.resumed]
        let focus = world.ask(.focus(Self.clock))
        // The daemon finds the signal when it is about to continue the app.
        world.give(.signalPending, of: Self.clock)
        world.give(.resumed, of: Self.clock)
        #expect(world.replies[focus] == nil && world.state("clock") == .background)
        world.give(.exited(.code(0), othersLeft: false), of: Self.clock)
        guard case .refused(.ended(Self.clock, let exit)) = world.replies[focus] else {
            Issue.record("the reply is \(String(describing: world.replies[focus]))")
            return
        }
        #expect(exit.reason == .signalled)
        #expect(!world.lines().contains("terminate clock"))
    }

    @Test func focusOfAnAppThatOutlivesItsSignalSucceedsThen() {
        var world = suspended()
        world.give(.signalPending, of: Self.clock)
        let focus = world.ask(.focus(Self.clock))
        world.pass(.seconds(5) - .microseconds(1))
        #expect(world.replies[focus] == nil)
        world.pass(.microseconds(1))
        #expect(world.replies[focus]?.doneApp == Self.clock && world.state("clock") == .active)
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .crash)
    }

    @Test func appThatOutlivesItsSignalIsSuspendedAgain() {
        var world = suspended()
        world.give(.signalPending, of: Self.clock)
        #expect(world.core.conditions(of: Self.clock).first == .signal(until: world.now + .seconds(5)))
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
    }

    @Test func appThatFacesASignalCanBeTerminated() {
        var world = suspended()
        world.give(.signalPending, of: Self.clock)
        let terminate = world.ask(.terminate(Self.clock))
        #expect(world.replies[terminate]?.doneApp == Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
    }

    @Test func signalThatEndsAnAppBesideAContinuationIsTold() {
        var world = suspended()
        world.give(.exited(.signal(1), othersLeft: false), of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .signalled)
    }

    @Test(arguments: [(RestartPolicy.never, false), (.onFailure, false), (.always, true)])
    func appThatASignalEndedIsRestartedOnlyAlways(policy: RestartPolicy, isRestarted: Bool) {
        var clock = Policy()
        clock.restart = policy
        var world = suspended(clock)
        world.give(.signalPending, of: Self.clock)
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect(world.lines().contains("spawn clock") == isRestarted)
    }

    @Test func signalIsKnownAfterARestartOfTheDaemon() {
        var world = suspended()
        world.give(.signalPending, of: Self.clock)
        world = world.restored()
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .signalled)
    }

    @Test func signalForARunningAppChangesNothing() {
        var world = running()
        _ = world.lines()
        world.give(.signalPending, of: Self.clock)
        #expect(world.lines() == [])
    }

    @Test func `app that connected while it was to be suspended resumes for a scene request`() {
        var policy = Policy()
        policy.scenes = true
        var world = World(apps: "clock")
        world.give(.define(Self.clock, policy))
        world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        world.pass(.seconds(10))
        // Another program continues it for a moment.
        world.give(.hello, from: Self.clock)
        world.give(.resumedByOther, of: Self.clock)
        #expect(world.state("clock") == .suspended)
        _ = world.lines()
        let opening = SceneOpening(scene: SceneID("main"))
        let request = world.ask(.openScene(Self.clock, opening, background: true))
        #expect(world.lines().contains("clock ← scene-will-connect main (system)"))
        #expect(world.replies[request]?.name.hasPrefix("done main") == true)
        world.pass(.seconds(10))
        #expect(world.state("clock") == .suspended)
    }
}
