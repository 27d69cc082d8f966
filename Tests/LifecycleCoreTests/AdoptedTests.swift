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

    @Test func `adopted app comes to the foreground, with adoption as the reason`() {
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

    @Test func `app that is adopted in the background leaves the foreground app active`() {
        var world = world()
        world.ask(.launch(Self.viewer, background: true))
        #expect(world.state("viewer") == .background)
        #expect(world.state("clock") == .active)
    }

    @Test func `adopted app that ends is not restarted, whatever its manifest says`() {
        var world = world { $0.restart = .always }
        world.ask(.launch(Self.viewer, background: false))
        world.give(.exited(.signal(11), othersLeft: false), of: Self.viewer)
        world.pass(.seconds(100))
        #expect(world.state("viewer") == .notRunning)
        #expect(world.core.deadline(.restart, of: Self.viewer) == nil)
    }

    @Test func `an app that was about to be started again is not, once a program that runs has its id`() {
        var world = World(apps: "clock", "viewer")
        var policy = Policy()
        policy.restart = .always
        policy.callbacks = .none
        world.give(.define(Self.viewer, policy))
        world.ask(.launch(Self.viewer, background: true))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.viewer) }
        #expect(world.core.deadline(.restart, of: Self.viewer) != nil)
        policy.isAdopted = true
        world.give(.define(Self.viewer, policy))
        #expect(world.core.deadline(.restart, of: Self.viewer) == nil)
    }

    /// It is no child of the daemon's, so the daemon does not hear of a SIGSTOP from elsewhere.
    @Test func `focus continues an adopted app, stopped or not`() {
        var world = world()
        world.ask(.launch(Self.viewer, background: false))
        _ = world.lines()
        world.ask(.focus(Self.viewer))
        #expect(world.lines().contains("resume viewer"))
    }

    @Test(arguments: [false, true])
    func `adopted app is released, running or suspended`(isAsleep: Bool) {
        var world = world { $0.isTransient = true }
        world.ask(.launch(Self.viewer, background: false))
        if isAsleep { world.ask(.suspend(Self.viewer)) }
        _ = world.lines()
        let request = world.ask(.release(Self.viewer))
        let lines = world.lines()
        #expect(lines.contains("terminate viewer"))
        #expect(lines.contains("viewer: terminating → notRunning (release)"))
        #expect(lines.contains("reply \(request) done"), "\(lines)")
        #expect(world.state("viewer") == nil)
    }

    @Test func `app that the daemon launched is not released`() {
        var world = world()
        let request = world.ask(.release(AppID("clock")))
        #expect(world.replies[request] == .refused(.notAdopted(AppID("clock"))))
        let stranger = world.ask(.release(AppID("stranger")))
        #expect(world.replies[stranger] == .refused(.noSuchApp(AppID("stranger"))))
        let resting = world.ask(.release(Self.viewer))
        #expect(world.replies[resting] == .refused(.notRunning(Self.viewer)))
    }

    @Test(arguments: [false, true])
    func `adopted app gets events if it has connected`(connects: Bool) {
        var world = world { $0.callbacks = .auto }
        world.ask(.launch(Self.viewer, background: false))
        if connects { world.give(.hello, from: Self.viewer) }
        let open = world.ask(.deliver(Self.viewer, .openURL("lifed:1")))
        #expect(world.replies[open]?.name == (connects ? "declined" : "not-listening"))
    }
}
