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
