import Testing

@testable import LifecycleCore

/// Apps that reconnect in the middle of a switch: the callbacks that they are sent again, and the time that they have for them.
@Suite struct RepeatedCallbackTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    /// The apps after a restart of the daemon; the clock was active, and is away.
    private func away(silent: Set<Callback> = [], policy: Policy = Policy(), before: (inout World) -> Void = { _ in })
        -> World
    {
        var world = World(apps: "clock", "maps", linked: true)
        for name in ["maps", "clock"] { world.ask(.launch(AppID(name), background: false)) }
        world.silent[Self.clock] = silent
        before(&world)
        world = world.restored(policy)
        world.reconnect(Self.maps)
        _ = world.lines()
        return world
    }

    private func told(_ world: inout World) -> [String] {
        world.lines().filter { $0.hasPrefix("clock ←") }.map { String($0.dropFirst("clock ← ".count)) }
    }

    @Test func taskTimeThatIsToldAgainIsTheRest() throws {
        var world = away(silent: [.didEnterBackground]) {
            $0.give(.beginTask(1, name: "upload"), from: Self.clock)
            $0.ask(.home)
            $0.pass(.seconds(3))
        }
        world.reconnect(Self.clock, missing: 1)
        #expect(told(&world) == ["did-enter-background"])
        let deliveries = try #require(world.told[Self.clock]).filter { $0.callback == .didEnterBackground }
        #expect(deliveries.map(\.taskTime) == [.seconds(30), .seconds(27)])
    }

    // MARK: The slot

    @Test func `app that reconnects while it is to resign has its whole second`() {
        var world = away(silent: [.willResignActive])
        world.ask(.focus(Self.maps))
        world.pass(.milliseconds(500))
        world.reconnect(Self.clock)
        #expect(told(&world) == ["will-resign-active"])
        world.pass(.milliseconds(999))
        #expect(world.state("clock") == .active)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") != .active && world.state("maps") == .active)
    }

    @Test func `app that waits for the slot of an app that is away comes when there is one more`() {
        var world = away()
        world.ask(.focus(Self.maps))
        #expect(world.state("maps") == .background)
        var settings = Settings()
        settings.foregroundLimit = 2
        world.give(.configure(settings))
        #expect(world.state("maps") == .active)
    }

    @Test func `app that is sent its resignation again has its whole second`() {
        var world = away(silent: [.willResignActive]) { $0.ask(.focus(Self.maps)) }
        world.pass(.milliseconds(500))
        world.reconnect(Self.clock, missing: 1)
        #expect(told(&world) == ["will-resign-active"])
        world.pass(.milliseconds(999))
        #expect(world.state("clock") == .active)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") != .active && world.state("maps") == .active)
    }

    @Test(arguments: [0, 1])
    func `resignation after a callback is sent again only if it did not arrive`(missing: Int) {
        var world = away(silent: [.openURL, .willResignActive]) { world in
            world.ask(.deliver(Self.clock, .openURL("lifed:1")))
            world.ask(.focus(Self.maps))
        }
        world.pass(.milliseconds(500))
        world.reconnect(Self.clock, missing: missing)
        #expect(told(&world) == (missing == 1 ? ["will-resign-active"] : []))
        world.pass(.milliseconds(499))
        #expect(world.state("clock") == .active)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == (missing == 1 ? .active : .inactive))
        world.pass(.milliseconds(300))
        world.answer(Self.clock)
        let time = Duration.milliseconds(missing == 1 ? 800 : 1_300)
        #expect(world.decisions.contains(.answered(Self.clock, .willResignActive, time)))
        #expect(world.state("clock") == .inactive)
    }

    @Test func `event that did not arrive is sent again before the resignation after it`() {
        var world = away(silent: [.openURL, .willResignActive]) { world in
            world.ask(.deliver(Self.clock, .openURL("lifed:1")))
            world.ask(.focus(Self.maps))
        }
        world.reconnect(Self.clock, missing: 2)
        #expect(told(&world) == ["open-url", "will-resign-active"])
    }

    @Test func `event that is sent again has its whole time while the app resigns`() {
        var world = away(silent: [.openURL, .willResignActive]) { world in
            world.ask(.deliver(Self.clock, .openURL("lifed:1")))
            world.ask(.focus(Self.maps))
        }
        world.reconnect(Self.clock, missing: 2)
        world.pass(.milliseconds(4_999))
        #expect(!world.lines().contains("! clock open-url unanswered"))
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("! clock open-url unanswered"))
    }

    @Test(arguments: [(2, []), (1, ["will-resign-active"])])
    func `app hears of its activation and its resignation, or of neither`(missing: Int, again: [String]) {
        var world = away {
            $0.ask(.focus(Self.maps))
            $0.silent[Self.clock] = [.didBecomeActive, .willResignActive]
            $0.ask(.focus(Self.clock))
            $0.ask(.focus(Self.maps))
        }
        world.silent = [:]
        world.reconnect(Self.clock, missing: missing)
        if missing == 1 { world.answer(Self.clock, to: .didBecomeActive) }
        #expect(told(&world) == again + ["did-enter-background"])
        #expect(world.state("maps") == .active)
    }

    @Test func `resignation that is sent again and not answered again is reported again`() {
        var world = away(silent: [.openURL, .willResignActive]) { world in
            world.ask(.deliver(Self.clock, .openURL("lifed:1")))
            world.ask(.focus(Self.maps))
            world.pass(.seconds(1))
        }
        world.reconnect(Self.clock, missing: 1)
        world.answer(Self.clock, to: .openURL)
        world.pass(.seconds(1))
        #expect(world.lines().contains("! clock overdue will-resign-active"))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `callback that is overdue when the app reconnects is reported`() {
        var world = away {
            $0.ask(.focus(Self.maps))
            $0.silent[Self.clock] = [.didBecomeActive]
            $0.ask(.focus(Self.clock))
        }
        world.pass(.seconds(10))
        world.reconnect(Self.clock)
        world.pass(AppMachine.readingTime)
        #expect(world.lines().contains("! clock overdue did-become-active"))
    }

    @Test func `app that loses its slot while it is away does not wait for the answer before`() {
        var world = away {
            $0.ask(.focus(Self.maps))
            $0.silent[Self.clock] = [.didBecomeActive, .willResignActive]
            $0.ask(.focus(Self.clock))
        }
        world.ask(.focus(Self.maps))
        world.pass(.seconds(1))
        world.reconnect(Self.clock)
        #expect(told(&world) == ["will-resign-active"])
    }

    // MARK: Became active while it was away

    /// The clock became active while it was away, and gets a URL first when it is back.
    private func withURL() -> World {
        var world = away(silent: [.openURL]) { $0.ask(.beginInterruption("call")) }
        world.ask(.endInterruption("call"))
        #expect(world.state("clock") == .active)
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.reconnect(Self.clock)
        return world
    }

    @Test func `URL before did-become-active finds the app inactive`() {
        let world = withURL()
        #expect(world.told[Self.clock]?.last?.callback == .openURL)
        #expect(world.told[Self.clock]?.last?.state == .inactive)
    }

    @Test func `app that leaves before it is told that it is active is told of neither`() {
        var world = withURL()
        _ = world.lines()
        world.ask(.focus(Self.maps))
        #expect(world.state("clock") == .inactive && world.state("maps") == .active)
        world.answer(Self.clock)
        #expect(told(&world) == ["did-enter-background"])
    }

    // MARK: Scenes

    /// Two scenes of an app that is away, `main` being the first in the foreground, and maps that runs in the background.
    private func awayWithScenes(silent: Set<Callback> = [], before: (inout World) -> Void = { _ in }) throws -> World {
        var world = SceneFixture.withTwoScenes(limit: 2)
        var policy = Policy()
        policy.suspend = .never
        policy.scenes = true
        policy.sceneLimit = 2
        world.linked.insert(Self.maps)
        world.give(.define(Self.maps, Policy()))
        world.ask(.launch(Self.maps, background: true))
        world.ask(.focusScene(Self.clock, try #require(SceneFixture.main)))
        world.silent[Self.clock] = silent
        before(&world)
        world = world.restored(policy)
        world.reconnect(Self.maps)
        _ = world.lines()
        return world
    }

    @Test func `app whose scenes lose their slot while it is away does not wait for the answer before`() throws {
        var world = try awayWithScenes(silent: [.openURL]) { world in
            world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        }
        world.ask(.home)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .inactive)
        world.reconnect(Self.clock)
        #expect(told(&world).first == "scene-will-resign-active main")
    }

    @Test func `scene that leaves before it is told that it is active is told of neither`() throws {
        var world = try awayWithScenes(silent: [.openURL]) { $0.ask(.beginInterruption("call")) }
        world.ask(.endInterruption("call"))
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.reconnect(Self.clock)
        #expect(told(&world) == ["open-url"])
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .foregroundInactive])
        world.ask(.home)
        #expect(world.scenes("clock") == ["main": .foregroundInactive, "scene-2": .foregroundInactive])
        world.answer(Self.clock)
        #expect(told(&world).filter { $0.contains("active") } == [])
    }

    @Test func `scene is told to resign after what the app has missed`() throws {
        var world = try awayWithScenes { world in
            world.ask(.backgroundScene(Self.clock, SceneID(ordinal: 2)))
            world.silent[Self.clock] = [.sceneDidDisconnect, .sceneWillResignActive]
        }
        world.ask(.closeScene(Self.clock, SceneID(ordinal: 2)))
        world.ask(.home)
        world.reconnect(Self.clock)
        #expect(told(&world) == ["scene-did-disconnect scene-2 (closed)", "scene-will-resign-active main"])
    }

    @Test func `app with scenes does not come before the previous app was told to resign`() throws {
        var world = try awayWithScenes { $0.ask(.launch(Self.maps, background: false)) }
        world = world.restored { world in
            world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        }
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(told(&world) == [])
        world.reconnect(Self.maps)
        #expect(told(&world).first == "scene-will-enter-foreground main")
    }

    // MARK: Work

    @Test func `work that did not arrive is sent again with its whole time`() {
        var world = away(silent: [.performTask]) { world in
            world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
            world.pass(.seconds(20))
        }
        world.pass(.seconds(5))
        world.reconnect(Self.clock, missing: 1)
        #expect(world.told[Self.clock]?.last?.deadline == world.now + .seconds(30))
        world.pass(.milliseconds(29_999))
        #expect(!world.lines().contains("! clock perform-task unanswered"))
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("! clock perform-task unanswered"))
    }

    @Test func `work that did not arrive is not sent to an app that is to end`() {
        var world = away(silent: [.performTask]) { world in
            world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        }
        world.ask(.terminate(Self.clock))
        world.reconnect(Self.clock, missing: 1)
        #expect(!told(&world).contains("perform-task"))
    }

    @Test func `work that is sent again keeps its time after another restart`() {
        var world = away(silent: [.performTask]) { world in
            world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
            world.pass(.seconds(20))
        }
        world.reconnect(Self.clock, missing: 1)
        world.pass(.seconds(20))
        world = world.restored()
        world.reconnect(Self.clock)
        world.pass(.milliseconds(9_999))
        #expect(!world.lines().contains("! clock perform-task unanswered"))
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("! clock perform-task unanswered"))
    }
}

extension World {
    /// Has an app reconnect that did not receive the last callbacks.
    mutating func reconnect(_ id: AppID, missing: Int = 0) {
        give(.reconnected(lastSequence: sequence(of: id) - UInt64(missing)), from: id)
    }
}
