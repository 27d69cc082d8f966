import LifecycleCore
import Testing

/// Apps that are woken for work in the background.
@Suite struct WakeTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    func asleep(linked: Bool) -> World {
        var world = World(apps: "clock", "maps", linked: linked)
        world.ask(.launch(Self.clock, background: true))
        world.pass(.seconds(60))
        _ = world.lines()
        return world
    }

    @Test func `a connected app is woken, does its work, and is suspended again`() {
        var world = asleep(linked: true)
        world.answers[Self.clock] = [.performTask: .result(.newData)]
        world.ask(.wake(Self.clock, kind: "fetch", payload: "inbox"))
        #expect(
            world.lines() == [
                "resume clock",
                "clock: suspended → background (wake)",
                "clock ← perform-task",
                "! clock perform-task new-data",
                "reply 2 new-data",
                "stop clock",
                "clock: background → suspended (idle)",
            ])
    }

    @Test func `an app that is not connected gets the time, and is suspended again`() {
        var world = asleep(linked: false)
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(
            world.lines() == [
                "resume clock",
                "clock: suspended → background (wake)",
                "reply 2 done",
            ])
        world.pass(.seconds(29))
        #expect(world.state("clock") == .background)
        world.pass(.seconds(1))
        #expect(world.lines() == ["stop clock", "clock: background → suspended (idle)"])
    }

    @Test func `app that never connects is launched for a task`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.callbacks = .none
        world.give(.define(Self.clock, policy))
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(world.lines() == ["spawn clock", "clock: notRunning → background (wake)", "reply 1 done"])
        world.pass(.seconds(29))
        #expect(world.state("clock") == .background)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `app that never connects, and that is woken while it ends, has the time at its next launch`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.callbacks = .none
        world.give(.define(Self.clock, policy))
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: true))
        world.ask(.terminate(Self.clock))
        let wake = world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        world.pass(.seconds(1))
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect(world.replies[wake]?.name == "done")
        world.pass(.milliseconds(28_999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `foreground app gets its task in the foreground`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(
            world.lines() == ["clock ← perform-task", "! clock perform-task no-data", "reply 2 no-data"])
    }

    @Test func `app that is launched for a task and does not connect has the same time`() {
        var world = World(apps: "clock")
        let wake = world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        world.pass(.milliseconds(29_999))
        #expect(world.replies[wake]?.name == "not-listening")
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `suspend request ends a wake`() {
        var world = asleep(linked: false)
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        let suspend = world.ask(.suspend(Self.clock))
        #expect(world.replies[suspend]?.doneApp == Self.clock)
    }

    @Test func `app whose restart is pending comes back where it was`() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        let crash = Outcome.exited(.signal(11), othersLeft: false)
        world.give(crash, of: Self.clock)
        world.give(crash, of: Self.clock)
        #expect(world.state("clock") == .notRunning)
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(world.state("clock") == .active)
        #expect(world.lines().contains("clock ← perform-task"))
    }

    @Test func `wake during a shutdown or of an unknown app has no effect`() {
        var world = asleep(linked: true)
        #expect(world.replies[world.ask(.wake(Self.maps, kind: "a", payload: ""))]?.name == "no-data")
        let unknown = AppID("unknown")
        #expect(world.replies[world.ask(.wake(unknown, kind: "a", payload: ""))] == .refused(.noSuchApp(unknown)))
        world.give(.shutDown)
        _ = world.lines()
        world.ask(.wake(Self.clock, kind: "a", payload: ""))
        #expect(!world.lines().contains("resume clock"))
    }

    @Test func wokenAppIsNotReclaimed() {
        var world = World(apps: "clock", "maps", linked: true)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.silent[Self.clock] = [.sceneDidDisconnect]
        world.ask(.launch(Self.clock, background: false))
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.launch(Self.maps, background: false))
        world.looks = [.critical]
        world.give(.memory(.veryShort))
        #expect(world.core.knownApps[Self.clock]?.target == .notRunning)
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        #expect(world.core.knownApps[Self.clock]?.target == .suspended)
    }

    @Test func `an app that has not begun to listen in its time cannot be told from then on`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: true))
        world.pass(.seconds(20))
        #expect(world.replies[world.ask(.wake(Self.clock, kind: "fetch", payload: ""))]?.name == "done")
    }

    @Test func `the time of an app that is suspended is over`() {
        var world = asleep(linked: false)
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        world.ask(.suspend(Self.clock))
        #expect(world.state("clock") == .suspended)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `resumed app that never connects has no deadline`() {
        var world = asleep(linked: false)
        world.ask(.resume(Self.clock))
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `resume is answered when the app is seen continued, or superseded`() {
        var world = asleep(linked: true)
        world.withholding = [.resumed]
        let first = world.ask(.resume(Self.clock))
        #expect(world.replies[first] == nil)
        world.give(.resumed, of: Self.clock)
        #expect(world.replies[first]?.doneApp == Self.clock)
        world.ask(.suspend(Self.clock))
        for end in [Request.suspend(Self.clock), .terminate(Self.clock)] {
            let next = world.ask(.resume(Self.clock))
            world.ask(end)
            #expect(world.replies[next]?.name.hasPrefix("refused") == true)
            world.give(.resumed, of: Self.clock)
        }
    }
}
