import LifecycleCore
import Testing

/// What an app with scenes goes through, as the core plays it with one that listens and waits for its launch callbacks.
@Suite struct SceneTranscriptTests {
    static let clock = AppID("clock")
    static let main = SceneID("main")
    static let second = SceneID("scene-2")

    static func world(sceneLimit: Int = 1) -> World {
        var world = World()
        var policy = Policy()
        policy.scenes = true
        policy.sceneLimit = sceneLimit
        policy.callbacks = .required
        world.linked = [clock]
        world.give(.define(clock, policy))
        return world
    }

    /// Two scenes, the second of which was opened last.
    static func withTwoScenes(limit: Int = 1) -> World {
        var world = world(sceneLimit: limit)
        world.ask(.launch(clock, background: false))
        world.ask(.openScene(clock, SceneOpening(), background: false))
        _ = world.lines()
        return world
    }

    @Test func `cold start with a scene`() {
        var world = Self.world()
        world.ask(.launch(Self.clock, background: false))
        #expect(
            world.lines() == [
                "spawn clock",
                "clock: notRunning → inactive (launch)",
                "clock ← will-finish-launching",
                "clock ← did-finish-launching",
                "clock ← scene-will-connect main (person)",
                "clock/main: unattached → foregroundInactive (launch)",
                "clock ← scene-will-enter-foreground main",
                "clock/main: foregroundInactive → foregroundActive (launch)",
                "clock: inactive → active (launch)",
                "reply 1 done",
                "clock ← scene-did-become-active main",
            ])
    }

    @Test func `a launch to the background connects no scene, and a scene of the system's is connected there`() {
        var world = Self.world()
        world.ask(.launch(Self.clock, background: true))
        #expect(world.scenes("clock") == [:])
        _ = world.lines()
        world.ask(.openScene(Self.clock, SceneOpening(role: "location"), background: true))
        #expect(
            world.lines() == [
                "resume clock",
                "clock: suspended → background (scene)",
                "clock ← scene-will-connect main (system)",
                "clock/main: unattached → background (scene)",
                "reply 2 done main background",
                "stop clock",
                "clock: background → suspended (idle)",
                "clock/main: background → suspended (idle)",
            ])
    }

    @Test func `a second scene is opened in front of the first`() {
        var world = Self.world()
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        #expect(
            world.lines() == [
                "clock ← scene-will-resign-active main",
                "clock/main: foregroundActive → foregroundInactive (displaced)",
                "clock: active → inactive (scene)",
                "clock ← scene-will-connect scene-2 (person)",
                "clock/scene-2: unattached → foregroundInactive (scene)",
                "clock ← scene-will-enter-foreground scene-2",
                "clock/scene-2: foregroundInactive → foregroundActive (scene)",
                "clock: inactive → active (scene)",
                "reply 2 done scene-2 foregroundActive",
                "clock ← scene-did-become-active scene-2",
                "clock/main: foregroundInactive → background (displaced)",
                "clock ← scene-did-enter-background main",
            ])
    }

    @Test func `two scenes may be in front where there is room for two`() {
        let world = Self.withTwoScenes(limit: 2)
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .foregroundActive])
    }

    @Test func `an app that has a second for its place has all of its time for what it was told before`() {
        var world = Self.world()
        world.silent[Self.clock] = [.sceneDidEnterBackground]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        #expect(world.lines().last == "clock ← scene-did-enter-background main")
        world.ask(.home)
        world.pass(.seconds(1))
        #expect(
            world.lines() == [
                "clock ← scene-will-resign-active scene-2",
                "clock/scene-2: foregroundActive → foregroundInactive (home)", "clock: active → inactive (home)",
            ])
        world.pass(.seconds(4))
        let lines = world.lines()
        #expect(lines.first == "! clock overdue scene-did-enter-background")
        #expect(lines.contains("clock: inactive → terminating (background-timeout)"))
    }

    @Test func `the focus moves between scenes of one app`() throws {
        var world = Self.withTwoScenes()
        world.ask(.focusScene(Self.clock, try #require(Self.main)))
        #expect(
            world.lines() == [
                "clock ← scene-will-resign-active scene-2",
                "clock/scene-2: foregroundActive → foregroundInactive (displaced)",
                "clock: active → inactive (focus)",
                "clock ← scene-will-enter-foreground main",
                "clock/main: background → foregroundInactive (focus)",
                "clock/main: foregroundInactive → foregroundActive (focus)",
                "clock: inactive → active (focus)",
                "reply 3 done main foregroundActive",
                "clock ← scene-did-become-active main",
                "clock/scene-2: foregroundInactive → background (displaced)",
                "clock ← scene-did-enter-background scene-2",
            ])
    }

    @Test func `one scene is closed`() throws {
        var world = Self.withTwoScenes(limit: 2)
        world.ask(.closeScene(Self.clock, try #require(Self.second)))
        #expect(
            world.lines() == [
                "clock ← scene-will-resign-active scene-2",
                "clock/scene-2: foregroundActive → foregroundInactive (closed)",
                "clock/scene-2: foregroundInactive → background (closed)",
                "clock ← scene-did-enter-background scene-2",
                "clock/scene-2: background → unattached (closed)",
                "clock ← scene-did-disconnect scene-2 (closed)",
                "reply 3 done scene-2 unattached",
            ])
        #expect(world.scenes("clock") == ["main": .foregroundActive])
    }

    @Test func `the last scene is closed`() throws {
        var world = Self.world()
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        world.ask(.closeScene(Self.clock, try #require(Self.main)))
        #expect(
            world.lines() == [
                "clock ← scene-will-resign-active main",
                "clock/main: foregroundActive → foregroundInactive (closed)",
                "clock: active → inactive (closed)",
                "clock/main: foregroundInactive → background (closed)",
                "clock: inactive → background (closed)",
                "clock ← scene-did-enter-background main",
                "clock/main: background → unattached (closed)",
                "clock ← scene-did-disconnect main (closed)",
                "reply 2 done main unattached",
                "stop clock",
                "clock: background → suspended (idle)",
            ])
        #expect(world.scenes("clock") == [:])
    }

    @Test func `all are in the background, and then the process sleeps`() {
        var world = Self.withTwoScenes(limit: 2)
        world.ask(.home)
        #expect(
            world.lines() == [
                "clock ← scene-will-resign-active scene-2",
                "clock ← scene-will-resign-active main",
                "clock/scene-2: foregroundActive → foregroundInactive (home)",
                "clock/main: foregroundActive → foregroundInactive (home)",
                "clock: active → inactive (home)",
                "clock/scene-2: foregroundInactive → background (home)",
                "clock ← scene-did-enter-background scene-2",
                "clock/main: foregroundInactive → background (home)",
                "clock: inactive → background (home)",
                "reply 3 done",
                "clock ← scene-did-enter-background main",
                "stop clock",
                "clock: background → suspended (idle)",
                "clock/main: background → suspended (idle)",
                "clock/scene-2: background → suspended (idle)",
            ])
    }

    @Test func `scenes are disconnected when memory is short, and one is opened again`() throws {
        var world = Self.withTwoScenes()
        world.ask(.home)
        _ = world.lines()
        world.give(.memoryPressure(.critical, "very short"))
        #expect(
            world.lines() == [
                "! clock gives back [main, scene-2]",
                "clock/main: suspended → unattached (reclaimed)",
                "clock/scene-2: suspended → unattached (reclaimed)",
                "look after clock in a moment",
            ])
        #expect(world.state("clock") == .suspended)
        world.ask(.focusScene(Self.clock, try #require(Self.main)))
        #expect(
            world.lines() == [
                "resume clock",
                "clock: suspended → background (focus)",
                "clock ← scene-did-disconnect main (reclaimed)",
                "clock ← scene-did-disconnect scene-2 (reclaimed)",
                "clock ← scene-will-connect main (restoration)",
                "clock/main: unattached → foregroundInactive (focus)",
                "clock: background → inactive (focus)",
                "clock ← scene-will-enter-foreground main",
                "clock/main: foregroundInactive → foregroundActive (focus)",
                "clock: inactive → active (focus)",
                "reply 4 done main foregroundActive",
                "clock ← scene-did-become-active main",
            ])
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .unattached])
    }

    @Test func `terminated when active, its scenes are disconnected first`() {
        var world = Self.world()
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        #expect(
            world.lines() == [
                "clock ← scene-will-resign-active main",
                "clock/main: foregroundActive → foregroundInactive (terminate)",
                "clock: active → inactive (terminate)",
                "clock/main: foregroundInactive → unattached (terminate)",
                "clock ← scene-did-disconnect main (terminating)",
                "clock: inactive → terminating (terminate)",
                "terminate clock",
                "! clock exited (terminate)",
                "clock: terminating → notRunning (terminate)",
                "reply 2 done",
            ])
        #expect(world.scenes("clock") == [:])
    }
}

extension World {
    /// A scene of the clock.
    func scene(_ id: SceneID) -> Scene? { core.knownApps[SceneTranscriptTests.clock]?.scenes[id] }

    /// The scenes of an app by name.
    func scenes(_ name: String) -> [String: SceneState] {
        let scenes = core.knownApps[AppID(name)]?.scenes.all ?? []
        return Dictionary(uniqueKeysWithValues: scenes.map { ($0.id.name, $0.state) })
    }
}
