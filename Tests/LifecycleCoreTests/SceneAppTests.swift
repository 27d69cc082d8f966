import Simulation
import Testing

@testable import LifecycleCore

/// What an app with scenes does itself: what it says, how it leaves and comes back, and how it ends.
@Suite struct SceneAppTests {
    static let clock = SceneFixture.clock
    static let maps = AppID("maps")
    static let main = SceneID(ordinal: 1)
    static let third = SceneID(ordinal: 3)

    // MARK: What it says

    @Test func `an app in the background opens a scene there`() {
        var world = SceneFixture.withTwoScenes()
        world.give(.beginTask(1, name: "save"), from: Self.clock)
        world.ask(.home)
        world.give(.openScene(nil, role: nil, info: nil), from: Self.clock)
        #expect(world.scenes("clock") == ["main": .background, "scene-2": .background, "scene-3": .background])
    }

    @Test func `refused scene is logged`() {
        var world = SceneFixture.withTwoScenes()
        world.give(.sceneInfo(Self.third, "x"), from: Self.clock)
        #expect(world.lines().count == 1)
        for _ in 2..<Scenes.limit { world.give(.openScene(nil, role: nil, info: nil), from: Self.clock) }
        _ = world.lines()
        world.give(.openScene(nil, role: nil, info: nil), from: Self.clock)
        #expect(world.lines().map { $0.prefix(30) } == ["! clock refused tooManyScenes("])
        world.linked.insert(Self.maps)
        world.give(.define(Self.maps, Policy()))
        world.ask(.launch(Self.maps, background: false))
        _ = world.lines()
        world.give(.openScene(nil, role: nil, info: nil), from: Self.maps)
        #expect(world.lines().map { $0.prefix(23) } == ["! maps refused noScenes"])
    }

    @Test func `information of a scene is kept up to its limit`() {
        var world = SceneFixture.withTwoScenes()
        for (count, kept) in [(SceneText.infoLimit, SceneText.infoLimit), (SceneText.infoLimit + 1, nil)]
            as [(Int, Int?)]
        {
            world.give(.sceneInfo(Self.main, String(repeating: "x", count: count)), from: Self.clock)
            #expect(world.scene(Self.main)?.info?.utf8.count == kept)
        }
    }

    // MARK: The end

    @Test func `URL of an app that is to end has an outcome`() {
        var world = SceneFixture.withTwoScenes()
        var policy = Policy()
        policy.scenes = true
        policy.timeouts.termination = .seconds(12)
        world.give(.define(Self.clock, policy))
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        world.pass(.seconds(20))
        #expect(world.lines().contains("! clock open-url unanswered"))
    }

    @Test func `URL of an app that is to end is lost when the time for its scenes expires`() {
        var world = SceneFixture.world()
        var policy = Policy()
        policy.scenes = true
        policy.timeouts.termination = .seconds(2)
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.ask(.terminate(Self.clock))
        _ = world.lines()
        world.pass(.seconds(3))
        #expect(world.lines().contains("! clock open-url lost"))
    }

    @Test func `an app that has not heard of its scenes is asked to end in time all the same`() {
        var world = SceneFixture.world()
        var policy = Policy()
        policy.scenes = true
        policy.timeouts.termination = .seconds(2)
        world.linked = []
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.sceneWillConnect, .sceneWillEnterForeground]
        world.give(.hello, from: Self.clock)
        let end = world.ask(.terminate(Self.clock))
        _ = world.lines()
        world.pass(.milliseconds(999))
        #expect(world.replies[end] == nil)
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("! clock overdue scene-will-connect"))
        #expect(world.replies[end]?.doneApp == Self.clock)
    }

    // MARK: Its own steps

    @Test func `app that leaves the foreground before its first scene has none`() {
        var world = SceneFixture.world()
        world.silent[Self.clock] = [.didFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        #expect(world.state("clock") == .inactive)
        _ = world.lines()
        world.answer(Self.clock)
        #expect(world.state("clock") == .suspended)
        #expect(!world.lines().contains { $0.contains("scene-will-connect") })
    }

    @Test func `there is a scene in the foreground, whatever the manifest says`() {
        var world = World()
        var policy = Policy()
        policy.scenes = true
        policy.sceneLimit = 0
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        #expect(world.scenes("clock") == ["main": .foregroundActive])
    }

    @Test func `scene that was in the foreground comes before a scene that never was`() {
        var world = SceneFixture.world()
        world.ask(.launch(Self.clock, background: false))
        world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        world.pass(.seconds(1))
        world.ask(.backgroundScene(Self.clock, Self.main))
        world.ask(.focus(Self.clock))
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .background])
    }

    @Test func `an app that is away comes no nearer before its scenes do`() {
        var world = SceneFixture.withTwoScenes()
        world.give(.beginTask(1, name: "save"), from: Self.clock)
        world.ask(.home)
        var policy = Policy()
        policy.scenes = true
        world = world.restored(policy)
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .background)
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(world.scenes("clock")["scene-2"] == .foregroundActive)
    }

    @Test func `restored active app without an active scene leaves the foreground`() {
        let known = [
            ("id", "clock"), ("state", "active"), ("wish", "run"), ("linked", "1"), ("launched", "1"), ("scenes", "1"),
            ("has-launched", "1"), ("sequence", "1"),
        ]
        var policy = Policy()
        policy.scenes = true
        var world = World()
        world.core = Engine(
            restoring: SavedRecord(), apps: [SavedRecord(fields: known.map { .init(name: $0.0, value: $0.1) })],
            settings: Settings(), policy: { _ in policy }, at: world.now)
        world.give(.reconnected(lastSequence: 1), from: Self.clock)
        world.give(.resumeRestored)
        #expect(world.state("clock") == .suspended)
        #expect(!world.lines().contains("clock ← will-resign-active"))
    }

    @Test func `suspended app that is to end hears of its scenes when it runs`() {
        var world = SceneFixture.withTwoScenes()
        world.withholding = [.stopped, .resumed]
        world.ask(.home)
        world.ask(.focus(Self.clock))
        world.ask(.terminate(Self.clock))
        #expect(!world.lines().suffix(2).contains { $0.contains("←") })
        world.give(.resumed, of: Self.clock)
        #expect(world.lines().contains("clock ← scene-did-disconnect main (terminating)"))
    }
}
