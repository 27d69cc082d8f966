import Testing

@testable import LifecycleCore

/// What comes between one app that is ended for its memory and the next.
@Suite struct ReclaimRoundTests {
    @Test func `a round goes on after the daemon was killed in the middle of it`() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.give(.memoryPressure(.critical, "very short"))
        _ = world.lines()
        let core = world.core
        world.core = Lifecycle(
            restoring: core.record, apps: core.records, settings: core.settings, policy: { _ in Policy() },
            at: world.now)
        world.withholding = []
        world.give(.takeOver)
        #expect(world.lines().contains("! one reclaimed of [one, two, three] (very short), 4096"))
        #expect(world.core.reclaim == nil)
    }

    @Test func `a shutdown ends a round`() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.ask(.memoryPressure(.critical, all: true))
        world.give(.shutDown)
        world.give(.outcome(AppID("one"), .exited(.signal(9), othersLeft: false)))
        #expect(world.lines().contains("reply 5 reclaimed [one]"))
    }

    @Test func `an app that is wanted again before it was asked to end keeps nobody waiting`() {
        let maps = AppID("maps")
        var world = World(apps: "clock", "maps", linked: true)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(maps, policy))
        world.silent[maps] = [.sceneDidDisconnect]
        world.ask(.launch(maps, background: false))
        world.give(.message(maps, .beginTask(1, name: "upload")))
        world.ask(.launch(AppID("clock"), background: false))
        world.looks = [.critical]
        let request = world.ask(.memoryPressure(.critical, all: true))
        world.pass(.seconds(1))
        #expect(world.core.reclaim?.victim == maps)
        world.ask(.launch(maps, background: false))
        world.pass(.seconds(30))
        #expect(world.core.reclaim == nil)
        #expect(world.replies[request] != nil)
    }

    @Test func `who says that memory is no longer short has no more apps ended`() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.ask(.memoryPressure(.critical, all: true))
        world.ask(.memoryPressure(.normal, all: false))
        world.give(.outcome(AppID("one"), .exited(.signal(9), othersLeft: false)))
        #expect(world.lines().last == "reply 5 reclaimed [one]")
    }

    @Test func `a shutdown waits for no look at the memory`() {
        var world = ReclaimTests().world()
        world.withholding = [.looks]
        world.ask(.memoryPressure(.critical, all: true))
        #expect(world.core.reclaim?.phase == .looking)
        world.give(.shutDown)
        #expect(world.lines().contains("reply 5 reclaimed [one]"))
    }

    @Test func `a look that a daemon did not live to take is taken by the next one`() {
        var world = ReclaimTests().world()
        world.withholding = [.looks]
        world.give(.memoryPressure(.critical, "very short"))
        let core = world.core
        world.core = Lifecycle(
            restoring: core.record, apps: core.records, settings: core.settings, policy: { _ in Policy() },
            at: world.now)
        world.withholding = []
        _ = world.lines()
        world.give(.takeOver)
        #expect(world.lines().contains("look after one in a moment"))
        #expect(world.core.reclaim == nil)
    }
}
