import LifecycleCore
import Testing

/// The rows of the life cycle's table, as the core plays them with apps that listen.
@Suite struct TranscriptTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    func running(_ names: [String], linked: Bool = true) -> World {
        var world = World(apps: "clock", "maps", "mail", linked: linked)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    @Test func `launch to the front`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        #expect(
            world.lines() == [
                "spawn clock",
                "clock: notRunning → inactive (launch)",
                "clock: inactive → active (launch)",
                "reply 1 done",
                "clock: active → inactive (launch)",
                "clock ← will-finish-launching",
                "clock ← did-finish-launching",
                "clock: inactive → active (launch)",
                "clock ← did-become-active",
            ])
    }

    @Test func `launch to the background`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        #expect(
            world.lines() == [
                "spawn clock",
                "clock: notRunning → background (launch)",
                "reply 1 done",
                "clock ← will-finish-launching",
                "clock ← did-finish-launching",
                "stop clock",
                "clock: background → suspended (idle)",
            ])
    }

    @Test func `leave the front`() {
        var world = running(["clock"])
        world.ask(.home)
        #expect(
            world.lines() == [
                "clock ← will-resign-active",
                "clock: active → inactive (home)",
                "clock: inactive → background (home)",
                "reply 2 done",
                "clock ← did-enter-background",
                "stop clock",
                "clock: background → suspended (idle)",
            ])
    }

    @Test func `come back`() {
        var world = running(["clock"])
        world.ask(.home)
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(
            world.lines() == [
                "resume clock",
                "clock: suspended → background (focus)",
                "clock ← will-enter-foreground",
                "clock: background → inactive (focus)",
                "clock: inactive → active (focus)",
                "reply 3 done",
                "clock ← did-become-active",
            ])
    }

    @Test func `a switch overlaps, but for becoming active`() {
        var world = running(["maps", "clock"])
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.focus(Self.maps))
        #expect(
            world.lines() == [
                "resume maps",
                "clock ← will-resign-active",
                "maps: suspended → background (focus)",
                "maps ← will-enter-foreground",
                "maps: background → inactive (focus)",
            ])
        world.pass(.milliseconds(999))
        #expect(world.lines() == [])
        world.pass(.milliseconds(1))
        #expect(
            world.lines() == [
                "! clock overdue will-resign-active",
                "clock: active → inactive (displaced)",
                "maps: inactive → active (focus)",
                "reply 3 done",
                "maps ← did-become-active",
                "clock: inactive → background (displaced)",
                "clock ← did-enter-background",
                "stop clock",
                "clock: background → suspended (idle)",
            ])
    }

    @Test func `an interruption begins and is dismissed`() {
        var world = running(["clock"])
        world.ask(.beginInterruption("call"))
        #expect(
            world.lines() == [
                "! interruption began",
                "clock ← will-resign-active",
                "clock: active → inactive (interruption)",
                "reply 2 done",
            ])
        world.ask(.endInterruption("call"))
        #expect(
            world.lines() == [
                "! interruption ended",
                "clock: inactive → active (interruption-ended)",
                "reply 3 done",
                "clock ← did-become-active",
            ])
    }

    @Test func `an interruption is answered with another app`() {
        var world = running(["maps", "clock"])
        world.ask(.beginInterruption("call"))
        _ = world.lines()
        let answer = world.ask(.endInterruption("call", answer: Self.maps))
        let clock = world.lines().filter { $0.hasPrefix("clock") }
        #expect(world.replies[answer]?.doneApp == Self.maps)
        #expect(
            clock == [
                "clock: inactive → background (displaced)",
                "clock ← did-enter-background",
                "clock: background → suspended (idle)",
            ])
        #expect(world.state("maps") == .active)
        #expect(world.core.interruptions.isEmpty)
    }

    @Test(arguments: ["focus", "launch", "open"])
    func `an app that is brought to the foreground during an interruption is inactive until it ends`(verb: String) {
        var world = running(["maps", "clock"])
        world.ask(.beginInterruption("call"))
        _ = world.lines()
        let request =
            switch verb {
            case "focus": world.ask(.focus(Self.maps))
            case "launch": world.ask(.launch(Self.maps, background: false))
            default: world.ask(.hand(Self.maps, .openURL("lifed:1")))
            }
        #expect(world.core.interruptions.contains("call"))
        #expect(world.state("maps") == .inactive && world.state("clock") == .suspended)
        #expect(!world.lines().contains("maps ← did-become-active"))
        if verb == "open" {
            #expect(world.replies[request]?.name == "declined")
        } else {
            #expect(world.replies[request] == .refused(.superseded(Self.maps, by: .interruption)))
        }
        world.ask(.endInterruption("call"))
        #expect(world.state("maps") == .active)
    }

    @Test func `an app that is interrupted on its way to the foreground is active when that ends`() {
        var world = running(["maps", "clock"])
        world.silent[Self.maps] = [.willEnterForeground]
        world.ask(.focus(Self.maps))
        world.ask(.beginInterruption("call"))
        _ = world.lines()
        world.answerAll(Self.maps)
        #expect(world.lines() == ["maps: background → inactive (interruption)"])
        world.ask(.endInterruption("call"))
        #expect(world.lines().contains("maps ← did-become-active"))
    }

    @Test func `terminated when active`() {
        var world = running(["clock"])
        world.ask(.terminate(Self.clock))
        #expect(
            world.lines() == [
                "clock ← will-resign-active",
                "clock: active → inactive (terminate)",
                "clock: inactive → terminating (terminate)",
                "terminate clock",
                "! clock exited (terminate)",
                "clock: terminating → notRunning (terminate)",
                "reply 2 done",
            ])
    }

    @Test func `terminated when suspended, without waking it first`() {
        var world = running(["clock"])
        world.ask(.home)
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        #expect(
            world.lines().prefix(2) == [
                "clock: suspended → terminating (terminate)",
                "terminate clock",
            ])
    }

    @Test func `who ignores SIGTERM is killed after five seconds`() {
        var world = running(["clock"])
        world.stubborn = [Self.clock]
        world.ask(.terminate(Self.clock))
        world.pass(.milliseconds(4999))
        #expect(world.state("clock") == .terminating)
        _ = world.lines()
        world.pass(.milliseconds(1))
        #expect(world.lines().prefix(2) == ["! grace over", "kill clock"])
        #expect(world.replies[2]?.doneApp == Self.clock)
    }

    @Test func `who does not answer didEnterBackground is purged`() {
        var world = running(["clock"])
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.home)
        _ = world.lines()
        world.pass(.seconds(5))
        #expect(
            world.lines() == [
                "! clock overdue did-enter-background",
                "clock: background → terminating (background-timeout)",
                "kill clock",
                "! clock exited (background-timeout)",
                "clock: terminating → notRunning (background-timeout)",
            ])
        #expect(world.core.knownApps[Self.clock]?.lastExit?.state == .background)
    }

    @Test func `an app without the library has its time in the background`() {
        var world = running(["clock"], linked: false)
        world.ask(.home)
        world.pass(.milliseconds(4999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `somebody who suspends an app does not wait for its time in the background`() {
        var world = running(["clock"], linked: false)
        let request = world.ask(.suspend(Self.clock))
        #expect(world.state("clock") == .suspended)
        #expect(world.core.knownApps[Self.clock]?.reason == .suspend)
        #expect(world.replies[request]?.doneApp == Self.clock)
    }

    @Test func `who says hello runs, even if that is not confirmed yet`() {
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        world.ask(.launch(Self.clock, background: false))
        world.give(.message(Self.clock, .hello))
        #expect(world.state("clock") == .active)
        #expect(world.lines().suffix(1) == ["clock ← did-become-active"])
        world.give(.outcome(Self.clock, .spawned))
        #expect(world.lines() == [])
    }

    @Test func `a late hello catches up from where the app is`() {
        var world = running(["clock"], linked: false)
        world.give(.message(Self.clock, .hello))
        #expect(
            world.lines() == [
                "clock: active → inactive (launch)", "clock ← will-finish-launching", "clock ← did-finish-launching",
                "clock: inactive → active (launch)", "clock ← did-become-active",
            ])
        world.ask(.home)
        world.give(.message(Self.clock, .closed))
        world.pass(.seconds(1))
        world.ask(.focus(Self.clock))
        _ = world.lines()
        world.ask(.home)
        #expect(world.state("clock") == .background)
        world.give(.message(Self.clock, .hello))
        #expect(
            world.lines().suffix(5) == [
                "clock ← will-finish-launching", "clock ← did-finish-launching", "clock ← did-enter-background",
                "stop clock", "clock: background → suspended (idle)",
            ])
    }
}
