import Testing

@testable import LifecycleCore

/// What memory pressure does to apps, as the core plays it.
@Suite struct ReclaimTests {
    static let names = ["one", "two", "three", "four"]

    /// Apps that were in front one after the other; the last of them still is.
    func world(_ names: [String] = names, linked: Bool = true, settings: Settings = Settings()) -> World {
        var world = World(settings: settings)
        for name in names {
            let id = AppID(name)
            if linked { world.linked.insert(id) }
            world.give(.define(id, Policy(timeouts: settings.timeouts)))
            world.ask(.launch(id, background: false))
            world.pass(.seconds(20))
        }
        _ = world.lines()
        return world
    }

    @Test func `critical ends suspended apps without notice, least recently in front first, until it is enough`() {
        var world = world()
        world.looks = [.critical]
        world.give(.memoryPressure(.critical, "very short"))
        #expect(
            world.lines() == [
                "measure one",
                "one: suspended → terminating (reclaimed)",
                "kill one",
                "four ← memory-warning",
                "! one exited (reclaimed)",
                "one: terminating → notRunning (reclaimed)",
                "look after one in a moment",
                "! one reclaimed of [one, two, three] (very short), 4096",
                "measure two",
                "two: suspended → terminating (reclaimed)",
                "kill two",
                "! two exited (reclaimed)",
                "two: terminating → notRunning (reclaimed)",
                "look after two in a moment",
                "! two reclaimed of [two, three] (still short), 4096",
            ])
        #expect(world.core.reclaim == nil)
    }

    @Test func `the app that was in front before goes last, and the one in front never`() {
        var world = world()
        world.ask(.focus(AppID("one")))
        world.pass(.seconds(20))
        _ = world.lines()
        world.looks = Array(repeating: .critical, count: 10)
        world.give(.memoryPressure(.critical, "very short"))
        #expect(world.lines().filter { $0.hasPrefix("measure") } == ["measure two", "measure three", "measure four"])
        #expect(world.state("one") == .active)
    }

    @Test func `then apps in the background, asked first, and those that an activity holds after the others`() {
        var world = World()
        for name in ["player", "tool", "never", "front"] {
            var policy = Policy()
            policy.backgroundModes = ["audio"]
            if name == "never" { policy.suspend = .never }
            world.linked.insert(AppID(name))
            world.give(.define(AppID(name), policy))
            world.ask(.launch(AppID(name), background: false))
            if name == "player" { world.give(.message(AppID(name), .beginActivity(1, mode: "audio"))) }
            if name == "tool" { world.give(.message(AppID(name), .beginTask(1, name: "upload"))) }
        }
        _ = world.lines()
        world.looks = Array(repeating: .critical, count: 10)
        world.give(.memoryPressure(.critical, "very short"))
        #expect(
            world.lines().filter { !$0.contains("→") && !$0.contains("exited") } == [
                "measure tool",
                "terminate tool",
                "front ← memory-warning",
                "never ← memory-warning",
                "player ← memory-warning",
                "look after tool in a moment",
                "! tool reclaimed of [tool, player] (very short), 4096",
                "measure player",
                "terminate player",
                "look after player in a moment",
                "! player reclaimed of [player] (still short), 4096",
            ])
    }

    @Test func `who is asked has its grace, and nobody else goes meanwhile`() {
        var world = World(apps: "tool", "front")
        world.stubborn = [AppID("tool")]
        world.ask(.launch(AppID("tool"), background: false))
        world.ask(.launch(AppID("front"), background: false))
        world.give(.memoryPressure(.critical, "very short"))
        _ = world.lines()
        world.give(.memoryPressure(.critical, "very short"))
        #expect(world.lines() == [])
        world.pass(.seconds(5))
        #expect(world.lines().prefix(2) == ["! grace over", "kill tool"])
        #expect(world.core.knownApps[AppID("tool")]?.lastExit?.reason == .reclaimed)
    }

    @Test func `one whose processes the kernel holds does not hold up the others`() {
        var world = world(["one", "two", "front"])
        world.withholding = [.killed]
        world.give(.memoryPressure(.critical, "very short"))
        _ = world.lines()
        world.looks = [.critical]
        world.pass(.seconds(6))
        #expect(
            world.lines() == [
                "look after one in a moment", "! one reclaimed of [one, two] (very short), 4096",
                "measure two", "two: suspended → terminating (reclaimed)", "kill two",
            ])
    }

    @Test func `what is restored knows why, and is told`() {
        var world = world(["one", "front"])
        world.give(.memoryPressure(.critical, "very short"))
        _ = world.lines()
        let app = world.core.knownApps[AppID("one")]
        #expect(app?.reclaimed?.cause == .pressure("very short"))
        #expect(app?.reclaimed?.freed == 4096)
        #expect(app?.lastExit?.state == .suspended)
        #expect(app?.lastExit?.reason.callsForRestoration == true)
        world.ask(.launch(AppID("one"), background: false))
        world.ask(.terminate(AppID("one")))
        #expect(world.core.knownApps[AppID("one")]?.reclaimed == nil)
    }

    @Test func `warnings go to those that listen and run, and not again and again`() {
        var world = world(["one", "front"])
        world.ask(.memoryPressure(.warning, all: false))
        world.give(.memoryPressure(.warning, "short"))
        world.pass(.milliseconds(9_999))
        world.give(.memoryPressure(.warning, "short"))
        #expect(world.lines() == ["reply 3 reclaimed []", "front ← memory-warning"])
        world.pass(.milliseconds(1))
        world.give(.memoryPressure(.warning, "short"))
        #expect(world.lines() == ["front ← memory-warning"])
    }

    @Test func `a warning waits while the app is told something else, and is heard before the app sleeps`() {
        var world = world(["one", "front"])
        world.silent[AppID("front")] = [.willResignActive]
        world.ask(.home)
        world.give(.memoryPressure(.warning, "short"))
        world.ask(.memoryPressure(.warning, all: false))
        _ = world.lines()
        world.pass(.seconds(10))
        #expect(
            world.lines().filter { $0.hasPrefix("front ←") || $0.hasPrefix("stop") } == [
                "front ← did-enter-background", "front ← memory-warning", "stop front",
            ])
    }

    @Test func `who does not answer a warning is held up by it for the time of a callback, and no longer`() {
        var world = world(["one", "front"])
        world.silent[AppID("front")] = [.memoryWarning]
        world.give(.memoryPressure(.warning, "short"))
        _ = world.lines()
        world.pass(.seconds(5))
        #expect(world.lines() == ["! front overdue memory-warning"])
        world.ask(.home)
        world.pass(.seconds(1))
        #expect(world.state("front") == .suspended)
    }

    @Test func `a simulation ends one app a call, and says which`() {
        var world = world()
        world.ask(.memoryPressure(.critical, all: false))
        #expect(
            world.lines() == [
                "measure one", "one: suspended → terminating (reclaimed)", "kill one", "four ← memory-warning",
                "! one exited (reclaimed)", "one: terminating → notRunning (reclaimed)", "look after one",
                "! one reclaimed of [one, two, three] (simulation), 4096", "reply 5 reclaimed [one]",
            ])
    }

    @Test func `a simulation for all ends all that may go`() {
        var world = world()
        world.ask(.memoryPressure(.critical, all: true))
        #expect(world.lines().last == "reply 5 reclaimed [one, two, three]")
        world.ask(.memoryPressure(.critical, all: false))
        #expect(world.lines().last == "reply 6 refused nothingToReclaim")
    }

    @Test func `a limit of suspended apps`() {
        var settings = Settings()
        settings.suspendedLimit = 2
        var world = world(Self.names, settings: settings)
        #expect(world.core.suspendedCount == 2)
        world.ask(.home)
        #expect(world.lines().suffix(8).contains("! two reclaimed of [two, three, four] (limit 2), 4096"))
        #expect(world.core.knownApps[AppID("one")]?.reclaimed?.cause == .suspendedLimit(2))
        settings.suspendedLimit = 0
        world.give(.configure(settings))
        settings.suspendedLimit = 1
        world.give(.configure(settings))
        #expect(world.core.suspendedCount == 1)
        #expect(world.state("four") == .suspended)
    }
}
