import LifecycleCore
import Testing

/// SIGSTOP and SIGCONT from somebody else, in the middle of what the daemon does.
@Suite struct ForeignSignalTests {
    static let clock = AppID("clock")

    func running() -> World {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        return world
    }

    /// Whether the app is continued when somebody wants it.
    func isContinued(_ world: World) -> Bool {
        var world = world
        _ = world.lines()
        world.ask(.focus(Self.clock))
        return world.lines().contains("resume clock")
    }

    @Test func `an app out of sight that is stopped is noticed, one that sleeps is not`() {
        var world = running()
        world.ask(.home)
        _ = world.lines()
        world.give(.outcome(Self.clock, .stoppedByOther))
        #expect(world.lines() == [])
        world.ask(.resume(Self.clock))
        _ = world.lines()
        world.give(.outcome(Self.clock, .stoppedByOther))
        #expect(world.lines() == ["! stopped by other"])
        #expect(isContinued(world))
    }

    @Test func `who stopped it has continued it`() {
        var world = running()
        world.give(.outcome(Self.clock, .stoppedByOther))
        world.give(.outcome(Self.clock, .resumedByOther))
        #expect(!isContinued(world))
    }

    @Test func `an app that the daemon has continued runs, whoever stopped it before`() {
        var world = running()
        world.withholding = [.stopped, .resumed]
        world.ask(.home)
        world.ask(.focus(Self.clock))
        world.give(.outcome(Self.clock, .stoppedByOther))
        world.give(.outcome(Self.clock, .resumed))
        #expect(world.state("clock") == .active)
        #expect(!isContinued(world))
    }

    @Test func `an app that sleeps and was continued is asleep again when it is seen stopped`() {
        var world = running()
        world.ask(.home)
        world.withholding = [.stopped]
        world.give(.outcome(Self.clock, .resumedByOther))
        let suspend = world.ask(.suspend(Self.clock))
        #expect(world.replies[suspend] == nil)
        world.give(.outcome(Self.clock, .stopped))
        #expect(world.replies[suspend]?.doneApp == Self.clock)
    }

    @Test func `who began to listen while it was to sleep is woken for whoever waits until it has heard of a scene`() {
        var policy = Policy()
        policy.scenes = true
        var world = World(apps: "clock")
        world.give(.define(Self.clock, policy))
        world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        world.pass(.seconds(10))
        // Somebody continues it for a moment.
        world.give(.message(Self.clock, .hello))
        world.give(.outcome(Self.clock, .resumedByOther))
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
