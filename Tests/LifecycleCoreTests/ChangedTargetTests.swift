import LifecycleCore
import Testing

/// Desired states that change while their consequences are under way.
@Suite struct ChangedTargetTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    @Test func `called back while resigning`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.home)
        world.silent = [:]
        _ = world.lines()
        let again = world.ask(.focus(Self.clock))
        #expect(world.lines() == ["reply 2 refused superseded"])
        world.give(.done(sequence: 4), from: Self.clock)
        #expect(
            world.lines() == [
                "clock: active → inactive (focus)",
                "clock: inactive → active (focus)",
                "reply 3 done",
                "clock ← did-become-active",
            ])
        #expect(world.replies[again]?.doneApp == Self.clock)
    }

    @Test func `app on its way to the foreground goes back when another app is focused`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.maps, background: false))
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.maps] = [.willEnterForeground]
        world.ask(.focus(Self.maps))
        world.silent = [:]
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(
            world.lines() == [
                "reply 3 refused superseded", "resume clock", "clock: suspended → background (focus)",
                "clock ← will-enter-foreground", "clock: background → inactive (focus)",
                "clock: inactive → active (focus)", "reply 4 done", "clock ← did-become-active",
            ])
        world.give(.done(sequence: 6), from: Self.maps)
        #expect(
            world.lines() == [
                "maps: background → inactive (displaced)",
                "maps: inactive → background (displaced)",
                "maps ← did-enter-background",
                "stop maps",
                "maps: background → suspended (idle)",
            ])
    }

    @Test func `an app that was told to come, and is not to any more, keeps the others waiting for nothing`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.ask(.focus(Self.maps))
        #expect(world.state("maps") == .active)
        world.answer(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .didEnterBackground)
    }

    /// An app that is in time with each answer is not ended, however quickly others come and go.
    @Test(arguments: [Callback.didBecomeActive, .willEnterForeground])
    func `callback before a resignation has its whole time`(
        slow: Callback
    ) {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.clock] = [slow]
        world.ask(.focus(Self.clock))
        world.silent[Self.clock] = [slow, .didEnterBackground]
        let focus = world.ask(.focus(Self.maps))
        world.pass(.seconds(1))
        #expect(world.replies[focus]?.doneApp == Self.maps)
        #expect(world.state("clock") == (slow == .didBecomeActive ? .inactive : .background))
        world.pass(.milliseconds(3_900))
        #expect(world.told[Self.clock]?.last?.callback == (slow == .didBecomeActive ? .willResignActive : slow))
        world.answerAll(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .didEnterBackground)
        world.pass(.milliseconds(4_900))
        #expect(world.state("clock") == .background)
        world.answer(Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func `app that gets will-resign-active late counts as active until then`() throws {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.clock] = [.didBecomeActive, .willResignActive]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.focus(Self.maps))
        world.pass(.seconds(1))
        world.answer(Self.clock)
        let resignation = try #require(world.told[Self.clock]?.last)
        #expect(resignation.callback == .willResignActive && resignation.state == .active)
    }

    @Test func `app that is focused again on its way becomes active when it answers`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.focus(Self.maps))
        world.pass(.seconds(1))
        world.ask(.focus(Self.clock))
        world.answer(Self.clock)
        #expect(world.state("clock") == .active)
        #expect(world.told[Self.clock]?.suffix(2).map(\.callback) == [.willEnterForeground, .didBecomeActive])
    }

    @Test func `app that is focused while it is being stopped resumes`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.withholding = [.stopped]
        let suspend = world.ask(.suspend(Self.clock))
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(world.lines().contains("resume clock"))
        #expect(world.state("clock") == .active)
        guard case .refused(.superseded) = world.replies[suspend] else {
            Issue.record("\(String(describing: world.replies[suspend]))")
            return
        }
    }

    @Test func `app that is terminated while it starts ends`() {
        var world = World(apps: "clock")
        world.withholding = [.spawned]
        let launch = world.ask(.launch(Self.clock, background: false))
        let terminate = world.ask(.terminate(Self.clock))
        #expect(world.replies[terminate] == nil)
        world.give(.spawned, of: Self.clock)
        #expect(world.state("clock") == .notRunning)
        #expect(world.replies[terminate]?.doneApp == Self.clock)
        #expect(world.replies[launch]?.name == "refused superseded")
    }

    @Test func `suspend request of an app that is to end is refused`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.willResignActive]
        let end = world.ask(.terminate(Self.clock))
        let sleep = world.ask(.suspend(Self.clock))
        #expect(world.replies[sleep] == .refused(.terminating(Self.clock)))
        world.pass(.seconds(1))
        #expect(world.replies[end]?.doneApp == Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
    }

    @Test func `app that is launched while it ends starts again`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.stubborn = [Self.clock]
        let terminate = world.ask(.terminate(Self.clock))
        let launch = world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(5))
        #expect(world.state("clock") == .active)
        #expect(world.replies[terminate]?.doneApp == Self.clock)
        #expect(world.replies[launch]?.doneApp == Self.clock)
    }

    @Test func `a silent app delays a chain of switches by its second and no more`() {
        var world = World(apps: "clock", "maps", "mail", linked: true)
        for name in ["clock", "maps", "mail"] { world.ask(.launch(AppID(name), background: false)) }
        world.silent[AppID("mail")] = [.willResignActive]
        world.ask(.focus(Self.clock))
        world.ask(.focus(Self.maps))
        world.pass(.seconds(1))
        #expect(world.state("maps") == .active)
    }

    @Test func `an app that was passed over on its way to a place is not active in between`() {
        var world = World(apps: "clock", "maps", "mail", linked: true)
        for name in ["clock", "maps", "mail"] { world.ask(.launch(AppID(name), background: false)) }
        world.silent = [AppID("mail"): [.willResignActive]]
        world.ask(.focus(Self.clock))
        world.ask(.focus(Self.maps))
        _ = world.lines()
        world.pass(.seconds(1))
        #expect(world.state("maps") == .active)
        #expect(!world.lines().contains { $0.hasPrefix("clock") && $0.contains("→ active") })
    }

    @Test func `a silent willEnterForeground holds no place`() {
        var world = World(apps: "clock", "maps", linked: true)
        for name in ["maps", "clock"] { world.ask(.launch(AppID(name), background: false)) }
        world.ask(.home)
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.focus(Self.maps))
        #expect(world.state("maps") == .active)
        _ = world.lines()
        world.pass(.seconds(5))
        #expect(
            world.lines().filter { $0.contains("clock") }.prefix(4) == [
                "! clock overdue will-enter-foreground",
                "clock: background → inactive (displaced)",
                "clock: inactive → background (displaced)",
                "clock ← did-enter-background",
            ])
    }

    @Test func `a silent didBecomeActive does not hold its place for ever`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.clock] = [.didBecomeActive]
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(2))
        _ = world.lines()
        world.ask(.focus(Self.maps))
        #expect(world.lines().contains("clock ← will-resign-active"))
        world.pass(.seconds(1))
        #expect(world.state("maps") == .active)
        #expect(!world.lines().contains { $0.hasPrefix("clock ←") })
        world.pass(.seconds(2))
        #expect(world.lines().filter { $0.hasPrefix("clock ←") } == ["clock ← did-enter-background"])
    }

    @Test func `a stop under way is taken back when the app is wanted, and not for less`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.withholding = [.stopped, .resumed]
        world.ask(.home)
        _ = world.lines()
        world.give(.endAssertion(1), from: Self.clock)
        #expect(world.lines().isEmpty)
        world.ask(.focus(Self.clock))
        #expect(world.lines() == ["resume clock"])
        world.give(.resumed, of: Self.clock)
        #expect(world.lines().contains("clock ← will-enter-foreground"))
        #expect(world.state("clock") == .active)
    }

    @Test func `a stop that is repeated is taken back when the app is wanted`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        world.withholding = [.stopped]
        _ = world.lines()
        world.give(.resumedByOther, of: Self.clock)
        #expect(world.lines() == ["! stop renewed", "stop clock"])
        world.ask(.focus(Self.clock))
        #expect(world.lines().first == "resume clock")
        #expect(world.state("clock") == .active)
    }

    @Test func `a launch in the background is answered with its callbacks, whatever the app is told next`() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.didFinishLaunching, .significantTimeChange]
        let launch = world.ask(.launch(Self.clock, background: true))
        world.ask(.machine(.timeChange))
        world.answer(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .significantTimeChange)
        #expect(world.replies[launch]?.doneApp == Self.clock)
    }

    @Test func `background launch waits for the pending answer of the app`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.home)
        let launch = world.ask(.launch(Self.clock, background: true))
        #expect(world.replies[launch] == nil)
        world.give(.done(sequence: 5), from: Self.clock)
        #expect(world.replies[launch]?.doneApp == Self.clock)
    }
}
