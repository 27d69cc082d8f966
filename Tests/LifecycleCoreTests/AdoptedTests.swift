import LifecycleCore
import Testing

/// Apps whose processes ran before they were apps.
@Suite struct AdoptedTests {
    static let viewer = AppID("viewer")

    func world(_ edit: (inout Policy) -> Void = { _ in }) -> World {
        var world = World(apps: "clock", "viewer")
        world.linked = [AppID("clock")]
        var policy = Policy()
        policy.isAdopted = true
        policy.callbacks = .none
        edit(&policy)
        world.give(.define(Self.viewer, policy))
        world.ask(.launch(AppID("clock"), background: false))
        _ = world.lines()
        return world
    }

    @Test func `it comes to the front, and the reason says what it is`() {
        var world = world()
        world.ask(.launch(Self.viewer, background: false))
        #expect(world.core.knownApps[Self.viewer]?.reason == .adopt)
        #expect(world.state("viewer") == .active)
        world.ask(.focus(AppID("clock")))
        world.pass(.seconds(6))
        #expect(world.state("viewer") == .suspended)
        // Launching what runs is what it is for every other app.
        world.ask(.launch(Self.viewer, background: false))
        #expect(world.core.knownApps[Self.viewer]?.reason == .launch)
    }

    @Test func `out of sight it sends nobody away`() {
        var world = world()
        world.ask(.launch(Self.viewer, background: true))
        #expect(world.state("viewer") == .background)
        #expect(world.state("clock") == .active)
    }

    @Test func `when it has ended it is not started again, whatever its manifest says`() {
        var world = world { $0.restart = .always }
        world.ask(.launch(Self.viewer, background: false))
        world.give(.outcome(Self.viewer, .exited(.signal(11), othersLeft: false)))
        world.pass(.seconds(100))
        #expect(world.state("viewer") == .notRunning)
        #expect(world.core.restartTime(of: Self.viewer) == nil)
    }

    @Test func `an app that was about to be started again is not, once a program that runs has its id`() {
        var world = World(apps: "clock", "viewer")
        var policy = Policy()
        policy.restart = .always
        policy.callbacks = .none
        world.give(.define(Self.viewer, policy))
        world.ask(.launch(Self.viewer, background: true))
        for _ in 0..<2 { world.give(.outcome(Self.viewer, .exited(.signal(11), othersLeft: false))) }
        #expect(world.core.restartTime(of: Self.viewer) != nil)
        policy.isAdopted = true
        world.give(.define(Self.viewer, policy))
        #expect(world.core.restartTime(of: Self.viewer) == nil)
    }

    /// It is no child of the daemon's, so nobody hears of a SIGSTOP from elsewhere.
    @Test func `who wants it in front continues it in any case`() {
        var world = world()
        world.ask(.launch(Self.viewer, background: false))
        _ = world.lines()
        world.ask(.focus(Self.viewer))
        #expect(world.lines().contains("resume viewer"))
    }

    @Test(arguments: [false, true])
    func `it can be let go, awake or asleep`(isAsleep: Bool) {
        var world = world { $0.isTransient = true }
        world.ask(.launch(Self.viewer, background: false))
        if isAsleep { world.ask(.suspend(Self.viewer)) }
        _ = world.lines()
        let request = world.ask(.release(Self.viewer))
        let lines = world.lines()
        #expect(lines.contains("terminate viewer"))
        #expect(lines.contains("viewer: terminating → notRunning (disown)"))
        #expect(lines.contains("reply \(request) done"), "\(lines)")
        #expect(world.state("viewer") == nil)
    }

    @Test func `what the daemon has started is not let go`() {
        var world = world()
        let request = world.ask(.release(AppID("clock")))
        #expect(world.replies[request] == .refused(.notAdopted(AppID("clock"))))
        let stranger = world.ask(.release(AppID("stranger")))
        #expect(world.replies[stranger] == .refused(.noSuchApp(AppID("stranger"))))
        let resting = world.ask(.release(Self.viewer))
        #expect(world.replies[resting] == .refused(.notRunning(Self.viewer)))
    }
}
