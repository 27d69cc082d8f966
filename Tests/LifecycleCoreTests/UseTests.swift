import Testing

@testable import LifecycleCore

/// Apps that are visible, or play, and are not in the foreground.
@Suite struct UseTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    /// A world in which maps is in the foreground, and clock was before.
    func world(linked: Bool = false, settings: Settings = Settings(), modes: Set<String> = []) -> World {
        var world = World(apps: "clock", "maps", linked: linked, settings: settings)
        var policy = Policy()
        policy.backgroundModes = modes
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(Self.maps, background: false))
        _ = world.lines()
        return world
    }

    @Test(arguments: [false, true])
    func `visible app is not suspended before it is hidden`(linked: Bool) {
        var world = world(linked: linked)
        world.give(.setUses(.visible, [Self.clock, Self.maps]))
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
        #expect(world.core.conditions(of: Self.clock) == [.use(.visible)])
        world.give(.setUses(.visible, [Self.maps]))
        world.pass(.milliseconds(4999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
        #expect(world.core.knownApps[Self.clock]?.reason == .idle)
    }

    /// The uses of a forgotten app are not those of the next one at its position.
    @Test func useOfAForgottenAppEndsWithIt() {
        var world = World()
        for name in ["clock", "maps"] {
            let id = AppID(name)
            world.give(.define(id, Policy()))
            world.give(.setUses(.visible, [id]))
            world.ask(.launch(id, background: true))
            if name == "clock" {
                world.ask(.kill(id))
                world.give(.forget(id))
            }
        }
        world.pass(.seconds(600))
        #expect(world.state("maps") == .background)
        world.give(.setUses(.visible, []))
        world.pass(.seconds(5))
        #expect(world.state("maps") == .suspended)
    }

    @Test func `suspended app resumes when it becomes visible`() {
        var world = world()
        world.pass(.seconds(5))
        _ = world.lines()
        world.give(.setUses(.visible, [Self.clock]))
        #expect(world.lines() == ["resume clock", "clock: suspended → background (visible)"])
    }

    @Test func `app that was suspended at once resumes when it becomes visible`() {
        var world = world()
        world.ask(.suspend(Self.clock, now: true))
        #expect(world.state("clock") == .suspended)
        world.give(.setUses(.visible, [Self.clock]))
        #expect(world.state("clock") == .background)
    }

    @Test func `a stop under way is taken back`() {
        var world = world()
        world.withholding = [.stopped]
        world.pass(.seconds(5))
        _ = world.lines()
        world.give(.setUses(.visible, [Self.clock]))
        #expect(world.lines() == ["resume clock"])
        #expect(world.state("clock") == .background)
    }

    @Test func `visible app is suspended if the settings say so`() {
        var settings = Settings()
        settings.keptUses.visible = false
        var world = world(settings: settings)
        world.give(.setUses(.visible, [Self.clock]))
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
        world.give(.configure(Settings()))
        #expect(world.state("clock") == .background)
    }

    @Test func `nothing is visible while nothing is in sight`() {
        var world = world()
        world.give(.setUses(.visible, [Self.clock]))
        world.ask(.machine(.lock))
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
        world.ask(.machine(.unlock))
        #expect(world.state("clock") == .background)
    }

    @Test func `suspend request of a visible app is refused`() {
        var world = world()
        world.withholding = [.stopped]
        let before = world.ask(.suspend(Self.clock))
        world.give(.setUses(.visible, [Self.clock]))
        #expect(world.replies[before] == .refused(.inUse(Self.clock, .visible)))
        #expect(world.replies[world.ask(.suspend(Self.clock))] == .refused(.inUse(Self.clock, .visible)))
    }

    @Test func `the time of tasks does not run on the screen, and starts anew after that`() {
        var world = world(linked: true)
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.give(.setUses(.visible, [Self.clock]))
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
        world.give(.beginTask(2, name: "other"), from: Self.clock)
        world.give(.setUses(.visible, []))
        _ = world.lines()
        world.pass(.milliseconds(29_999))
        #expect(world.lines() == [])
        world.pass(.milliseconds(1))
        #expect(world.lines() == ["clock ← expire-task 1", "clock ← expire-task 2"])
        world.give(.setUses(.visible, [Self.clock]))
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
    }

    static let plays: [(PlayingPolicy, Set<String>, AppState)] = [
        (.declared, [], .suspended), (.declared, ["audio"], .background), (.keep, [], .background),
        (.ignore, ["audio"], .suspended),
    ]

    @Test(arguments: plays)
    func `playing app is not suspended if its manifest allows it`(
        playing: PlayingPolicy, modes: Set<String>, state: AppState
    ) {
        var settings = Settings()
        settings.keptUses.playing = playing
        var world = world(settings: settings, modes: modes)
        world.give(.setUses(.playing, [Self.clock]))
        world.pass(.seconds(600))
        #expect(world.state("clock") == state)
        #expect(world.core.conditions(of: Self.clock) == (state == .background ? [.use(.playing)] : []))
    }

    @Test(arguments: [Use.pointed, .called, .awaited, .unread, .relaunched, .unfollowed])
    func `suspended app resumes for a use, and has its background time after it`(use: Use) {
        var world = world()
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
        world.give(.setUses(use, [Self.clock]))
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
        #expect(world.core.conditions(of: Self.clock) == [.use(use)])
        world.give(.setUses(use, []))
        world.pass(.seconds(4))
        #expect(world.state("clock") == .background)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `suspended app does not resume for sound`() {
        var world = world(modes: ["audio"])
        world.pass(.seconds(5))
        _ = world.lines()
        world.give(.setUses(.playing, [Self.clock]))
        #expect(world.lines() == [])
        world.ask(.focus(Self.clock))
        world.ask(.focus(Self.maps))
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
    }

    @Test func `visible app is reclaimed after hidden ones`() {
        var world = world()
        world.give(.setUses(.visible, [Self.clock]))
        world.give(.define(AppID("radio"), Policy()))
        world.ask(.launch(AppID("radio"), background: true))
        #expect(world.core.reclaimableApps() == [AppID("radio"), Self.clock])
    }

    @Test func `restored app in use has time until its use is reported again`() {
        var world = world()
        world.give(.setUses(.visible, [Self.clock]))
        world.pass(.seconds(600))
        world = world.restored()
        world.pass(.milliseconds(4999))
        #expect(world.state("clock") == .background)
        world.give(.setUses(.visible, [Self.clock]))
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
        world = world.restored()
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `use of an app ends with its process`() {
        var world = World(apps: "maps")
        world.give(.define(Self.clock, Policy(isTransient: true)))
        world.ask(.launch(Self.clock, background: false))
        world.give(.setUses(.visible, [Self.clock, AppID("stranger")]))
        world.ask(.kill(Self.clock))
        world.give(.define(Self.clock, Policy()))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        world.give(.setUses(.visible, [Self.clock]))
        world.pass(.seconds(600))
        #expect(world.state("clock") == .background)
    }
}
