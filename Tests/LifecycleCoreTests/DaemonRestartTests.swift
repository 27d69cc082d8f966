import Simulation
import Testing

@testable import LifecycleCore

/// What a daemon makes of what another one was in the middle of when it was killed. The simulation has found these.
@Suite struct DaemonRestartTests {
    static let clock = AppID("clock")

    /// The clock comes to the foreground while it is away from the restarted daemon, and the maps are back.
    private func worldWithClockAway() -> World {
        var world = World(apps: "clock", "maps", linked: true)
        for name in ["clock", "maps"] { world.ask(.launch(AppID(name), background: false)) }
        world.pass(.seconds(5))
        world.silent[AppID("maps")] = [.willResignActive]
        world.ask(.focus(Self.clock))
        world = world.restored()
        world.give(.reconnected(lastSequence: world.sequence(of: AppID("maps"))), from: AppID("maps"))
        world.pass(.seconds(2))
        return world
    }

    @Test func `reconnecting app that gained and lost its foreground slot hears of neither`() {
        var world = worldWithClockAway()
        #expect(world.state("clock") == .active)
        world.silent = [:]
        world.ask(.focus(AppID("maps")))
        world.pass(.seconds(2))
        #expect(world.state("maps") == .active)
        _ = world.lines()
        // It had heard that it comes to the foreground, and nothing since.
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        let callbacks = world.lines().filter { $0.contains("←") }
        #expect(callbacks == ["clock ← did-enter-background"])
    }

    @Test func `reconnecting app that regained its foreground slot hears did-become-active only`() {
        var world = worldWithClockAway()
        world.silent = [:]
        for name in ["maps", "clock"] {
            world.ask(.focus(AppID(name)))
            world.pass(.seconds(2))
        }
        _ = world.lines()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(world.lines().filter { $0.contains("←") } == ["clock ← did-become-active"])
    }

    @Test func `reconnecting app with two scenes that were active hears of neither`() {
        var policy = Policy()
        policy.scenes = true
        policy.sceneLimit = 2
        let maps = AppID("maps")
        var world = World(apps: "maps", linked: true)
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        #expect(world.core.knownApps[Self.clock]?.scenes.activeCount == 2)
        world.silent[Self.clock] = [.didFinishLaunching]
        world.give(.hello, from: Self.clock)
        world.ask(.launch(maps, background: false))
        world = world.restored(policy)
        world.give(.reconnected(lastSequence: world.sequence(of: maps)), from: maps)
        world.pass(.seconds(2))
        #expect(world.state("maps") == .active)
        _ = world.lines()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        world.answer(Self.clock)
        let callbacks = world.lines().filter { $0.hasPrefix("clock ←") }
        #expect(callbacks.contains("clock ← scene-did-enter-background main"))
        #expect(!callbacks.contains { $0.contains("active") })
    }

    @Test func `an app that is launched again while a daemon restores it is launched once`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(60))
        world = world.restored(policy) { world in
            world.withholding = [.spawned]
            world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        }
        #expect(world.lines().filter { $0 == "spawn clock" }.count == 1)
    }

    @Test func `focus continues a restored app, whose stop may have been missed`() {
        var world = World(apps: "clock", "maps")
        for name in ["clock", "maps"] { world.ask(.launch(AppID(name), background: false)) }
        world = world.restored()
        world.ask(.focus(Self.clock))
        #expect(world.lines().contains("resume clock"))
    }

    @Test(arguments: [false, true])
    func `the time of tasks that was over for a daemon that died is said again`(isReconnecting: Bool) {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.home)
        world.pass(.seconds(isReconnecting ? 29 : 30))
        world = world.restored()
        if isReconnecting { world.pass(.seconds(20)) }
        _ = world.lines()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(world.lines() == ["clock ← expire-task 1"])
        world.pass(.milliseconds(4_999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("clock: background → terminating (task-timeout)"))
    }

    @Test(arguments: [false, true])
    func `an app that is to end hears of its scenes' end from the next daemon, whatever is due`(isWoken: Bool) throws {
        var policy = Policy()
        policy.scenes = true
        var world = World()
        if !isWoken { world.linked = [Self.clock] }
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        if isWoken {
            // The daemon could not tell it what for: it is connected only since then.
            world.pass(.seconds(60))
            world.ask(.home)
            world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
            world.give(.hello, from: Self.clock)
            world.pass(.milliseconds(29_900))
        } else {
            // It is on the screen no more, and has five seconds in the background.
            world.give(.setUses(.visible, [Self.clock]))
            world.ask(.home)
            world.give(.setUses(.visible, []))
            world.pass(.milliseconds(4_900))
        }
        #expect(world.state("clock") == .background)
        world.silent[Self.clock] = [.significantTimeChange]
        world.ask(.machine(.timeChange))
        world.ask(.terminate(Self.clock))
        world.now = world.now + .seconds(1)
        world = world.restored(policy) { world in
            world.give(.tick)
            world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        }
        world.answer(Self.clock)
        let lines = world.lines()
        let told = try #require(lines.firstIndex(of: "clock ← scene-did-disconnect main (terminating)"))
        let asked = try #require(lines.firstIndex(of: "terminate clock"))
        #expect(told < asked)
    }

    @Test func `repeated scene-did-disconnect has the current reason`() throws {
        var policy = Policy()
        policy.scenes = true
        let main = try #require(SceneID("main"))
        var world = World()
        world.linked = [Self.clock]
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        world = world.restored(policy)
        world.ask(.closeScene(Self.clock, main))
        world.ask(.terminate(Self.clock))
        world.silent[Self.clock] = [.sceneWillResignActive, .sceneDidDisconnect]
        let before = world.sequence(of: Self.clock)
        world.give(.reconnected(lastSequence: before), from: Self.clock)
        #expect(
            world.told[Self.clock]?.last { $0.callback == .sceneDidDisconnect }?.scene
                == SceneNews(scene: main, reason: .terminating))
        world = world.restored(policy)
        world.ask(.launch(Self.clock, background: true))
        world.give(.reconnected(lastSequence: before), from: Self.clock)
        #expect(
            world.told[Self.clock]?.last { $0.callback == .sceneDidDisconnect }?.scene
                == SceneNews(scene: main, reason: .closed))
        world = world.restored(policy) { world in
            world.give(.reconnected(lastSequence: before), from: Self.clock)
        }
        #expect(
            world.told[Self.clock]?.last { $0.callback == .sceneDidDisconnect }?.scene
                == SceneNews(scene: main, reason: .closed))
    }
}

extension World {
    /// The same world after its daemon was killed and another one has restored the apps, with the channels lost.
    func restored(
        _ policy: Policy = Policy(), before: (inout World) -> Void = { _ in }
    ) -> World {
        var world = self
        let records = core.knownApps.keys.sorted().compactMap { core.record(of: $0) }
        world.core = Engine(
            restoring: core.record, apps: records, settings: core.settings, policy: { _ in policy }, at: now)
        _ = world.lines()
        before(&world)
        world.give(.resumeRestored)
        world.give(.start)
        return world
    }

    func sequence(of id: AppID) -> UInt64 {
        core.record(of: id)?["sequence"].flatMap { UInt64($0) } ?? 0
    }
}
