import Testing

@testable import LifecycleCore

/// Apps and scenes that are told to become inactive: the order, and the consequences of an overdue answer.
@Suite struct ResignationTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    /// Apps that were launched one after the other; the last one is active.
    private func running(_ names: String...) -> World {
        var world = World(apps: "clock", "maps", linked: true)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    /// The active clock, which has not answered that it is, and answers no resignation either.
    private func silent() -> World {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.clock] = [.didBecomeActive, .willResignActive]
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        return world
    }

    /// Two scenes, of which `scene-2` is in the foreground; or both, with the limit 2.
    private func withScenes(limit: Int = 1, silent: Set<Callback>) -> World {
        var world = SceneFixture.withTwoScenes(limit: limit)
        world.linked.insert(Self.maps)
        var policy = Policy()
        policy.suspend = .never
        world.give(.define(Self.maps, policy))
        world.ask(.launch(Self.maps, background: true))
        world.silent[Self.clock] = silent
        _ = world.lines()
        return world
    }

    private func told(_ lines: [String], _ id: AppID = clock) -> [String] {
        lines.filter { $0.hasPrefix("\(id) ←") }.map { String($0.dropFirst("\(id) ← ".count)) }
    }

    private func overdue(_ world: inout World) -> [String] { world.lines().filter { $0.contains("overdue") } }

    // MARK: Behind an unanswered callback

    @Test func `resignation that is answered before the callback in front of it counts at once`() {
        var world = silent()
        let focus = world.ask(.focus(Self.maps))
        world.pass(.milliseconds(300))
        world.answer(Self.clock)
        #expect(world.state("clock") == .inactive)
        #expect(world.replies[focus]?.doneApp == Self.maps)
        #expect(world.decisions.contains(.answered(Self.clock, .willResignActive, .milliseconds(300))))
    }

    @Test func `scene that was told to resign after a callback is in the foreground when it is active again`() {
        var world = withScenes(limit: 2, silent: [.memoryWarning, .sceneWillResignActive])
        let second = SceneID(ordinal: 2)
        world.give(.memory(.short))
        world.ask(.backgroundScene(Self.clock, second))
        let focus = world.ask(.focusScene(Self.clock, second))
        let open = world.ask(.openScene(Self.clock, SceneOpening(scene: second), background: false))
        #expect(world.replies[focus] == nil && world.replies[open] == nil)
        world.answerAll(Self.clock)
        #expect(world.replies[focus]?.name == "done scene-2 foregroundActive")
        #expect(world.replies[open]?.name == "done scene-2 foregroundActive")
    }

    @Test func `resignation that is overdue after a callback is reported once`() {
        var world = silent()
        world.ask(.home)
        world.pass(.seconds(1))
        #expect(overdue(&world) == ["! clock overdue will-resign-active"])
        world.pass(.seconds(9))
        #expect(overdue(&world) == ["! clock overdue did-become-active"])
    }

    @Test func `resignation that loses its slot before its second is over is reported once`() {
        var world = silent()
        world.ask(.home)
        world.pass(.milliseconds(500))
        world.answer(Self.clock, to: .didBecomeActive)
        world.pass(.milliseconds(500))
        #expect(overdue(&world) == ["! clock overdue will-resign-active"])
        world.pass(.seconds(2))
        #expect(overdue(&world) == [])
        #expect(world.state("clock") == .suspended)
    }

    @Test func `all scenes are told to resign at once, after an unanswered callback, too`() {
        var world = SceneFixture.world(sceneLimit: 2)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.sceneDidBecomeActive, .sceneWillResignActive]
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        _ = world.lines()
        world.ask(.home)
        #expect(told(world.lines()) == ["scene-will-resign-active main", "scene-will-resign-active scene-2"])
        world.pass(.seconds(1))
        #expect(overdue(&world) == Array(repeating: "! clock overdue scene-will-resign-active", count: 2))
        #expect(world.scenes("clock") == ["main": .foregroundInactive, "scene-2": .foregroundInactive])
        world.pass(.seconds(9))
        #expect(overdue(&world).filter { $0.contains("resign") } == [])
    }

    // MARK: Scenes

    @Test func `scene that is late to resign leaves the slot of its app to the other scenes`() throws {
        var world = withScenes(limit: 2, silent: [.sceneWillResignActive])
        world.ask(.backgroundScene(Self.clock, try #require(SceneFixture.second)))
        world.pass(.seconds(2))
        #expect(overdue(&world) == ["! clock overdue scene-will-resign-active"])
        #expect(world.scenes("clock")["main"] == .foregroundActive)
        #expect(world.state("clock") == .active)
    }

    @Test func `last active scene that is late to resign is reported once`() {
        var world = withScenes(silent: [.sceneWillResignActive])
        world.ask(.home)
        world.pass(.seconds(2))
        #expect(overdue(&world) == ["! clock overdue scene-will-resign-active"])
    }

    @Test func `app that is needed again while its scenes resign is active when all have answered`() {
        var world = withScenes(limit: 2, silent: [.sceneWillResignActive])
        world.ask(.home)
        let focus = world.ask(.focus(Self.clock))
        let resignations = world.told[Self.clock]?.suffix(2).map(\.sequence) ?? []
        #expect(resignations.count == 2)
        for sequence in resignations {
            #expect(world.replies[focus] == nil)
            world.give(.done(sequence: sequence), from: Self.clock)
        }
        #expect(world.replies[focus]?.doneApp == Self.clock)
    }

    @Test func `next app comes while the last active scene resigns`() {
        var world = withScenes(silent: [.sceneWillResignActive])
        world.ask(.focus(Self.maps))
        #expect(told(world.lines(), Self.maps) == ["will-enter-foreground"])
        #expect(world.state("clock") == .active && world.state("maps") == .inactive)
    }

    @Test func `next app comes when every active scene was told to resign, and not before`() throws {
        var world = withScenes(limit: 2, silent: [.sceneWillResignActive])
        world.ask(.focusScene(Self.clock, try #require(SceneFixture.main)))
        world.silent[Self.clock]?.insert(.openURL)
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        _ = world.lines()
        world.ask(.focus(Self.maps))
        let lines = world.lines().filter { $0.contains("←") }
        #expect(
            lines == [
                "clock ← scene-will-resign-active main", "clock ← scene-will-resign-active scene-2",
                "maps ← will-enter-foreground",
            ])
    }
}

extension World {
    /// Has an app answer the last callback of a kind.
    mutating func answer(_ id: AppID, to callback: Callback) {
        let sequence = told[id]?.last { $0.callback == callback }?.sequence ?? 0
        give(.done(sequence: sequence), from: id)
    }
}
