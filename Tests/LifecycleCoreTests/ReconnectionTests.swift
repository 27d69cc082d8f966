import Testing

@testable import LifecycleCore

/// Apps that have lost their channel with a daemon that died: what is kept for them until they are back, and for how long.
@Suite struct ReconnectionTests {
    @Test func appThatBeginsAnewBeforeTheEndOfItsChannelCountsIsLaunched() {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(clock, background: false))
        world.give(.closed, from: clock)
        _ = world.lines()
        world.give(.hello, from: clock)
        #expect(world.lines().contains { $0.hasPrefix("clock ← will-finish-launching") })
        world.pass(.seconds(5))
        #expect(world.core.knownApps[clock]?.isConnected == true)
    }

    /// The user waits for it, but it was promised the time of the callback.
    @Test func appThatHasACallbackHasItsTimeToReconnect() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.willFinishLaunching]
        world.ask(.launch(Self.clock, background: true))
        world = world.restored()
        world.ask(.focus(Self.clock))
        world.pass(.milliseconds(19_999))
        #expect(isConnected(world) == true)
        world.pass(.milliseconds(1))
        #expect(isConnected(world) == false)
    }

    @Test func bothLaunchCallbacksOfANewLifeCycleHaveOneTime() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world = world.restored(policy)
        world.silent[Self.clock] = [.willFinishLaunching, .didFinishLaunching]
        world.give(.hello, from: Self.clock)
        #expect(world.core.deadline(.reconnection, of: Self.clock) == nil)
        world.pass(policy.timeouts.launch - .seconds(1))
        world.answer(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .didFinishLaunching)
        world.pass(.milliseconds(999))
        #expect(world.state("clock")?.isAlive == true)
        world.pass(.milliseconds(1))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .launchTimeout)
    }

    static let clock = AppID("clock")
    static let maps = AppID("maps")

    func running(_ names: String...) -> World {
        var world = World(apps: "clock", "maps", linked: true)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        return world
    }

    /// An app that is in the background, and silent.
    func silent(for time: Duration = .zero) -> World {
        var world = running("clock")
        world.silent[Self.clock] = [.didEnterBackground]
        world.ask(.home)
        world.pass(time)
        return world
    }

    func isConnected(_ world: World) -> Bool? { world.core.knownApps[Self.clock]?.isConnected }

    // MARK: Duration

    @Test func `an app that runs has its time to come back`() {
        var world = running("clock").restored()
        world.pass(.milliseconds(34_999))
        #expect(isConnected(world) == true)
        world.pass(.milliseconds(1))
        #expect(isConnected(world) == false)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `reconnection time of an app runs from the restart of the daemon`() {
        var world = running("clock").restored()
        world.pass(.seconds(34))
        world.now = world.now + .seconds(2)
        world = world.restored { $0.give(.tick) }
        world.pass(.milliseconds(34_999))
        #expect(isConnected(world) == true)
        world.pass(.milliseconds(1))
        #expect(isConnected(world) == false)
    }

    @Test(arguments: [0, 1])
    func appThatIsToComeToTheForegroundHasLessTimeToReconnect(seconds: Int) {
        var world = running("clock")
        world.ask(.home)
        world = world.restored()
        let focus = world.ask(.focus(Self.clock))
        world.pass(.seconds(seconds))
        // Another request for it does not prolong the time.
        world.ask(.focus(Self.clock))
        world.pass(.milliseconds(9_999) - .seconds(seconds))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.replies[focus]?.doneApp == Self.clock)
        #expect(world.state("clock") == .active)
    }

    @Test func `an app that is back is not waited for`() {
        var world = running("clock").restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(world.core.nextDeadline == nil)
    }

    @Test func `app that disconnects as soon as it reconnects is not waited for`() {
        var world = running("clock").restored()
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime)
        #expect(world.core.nextDeadline == nil)
        #expect(isConnected(world) == false)
    }

    @Test func `reconnection time of a suspended app runs from its resumption`() {
        var world = running("clock")
        world.ask(.home)
        world = world.restored()
        world.pass(.seconds(60))
        #expect(isConnected(world) == true)
        world.ask(.resume(Self.clock))
        world.pass(.milliseconds(34_999))
        #expect(isConnected(world) == true)
        world.pass(.milliseconds(1))
        #expect(isConnected(world) == false)
    }

    @Test func `the time of an app that goes to sleep again stands still`() {
        var world = running("clock")
        world.ask(.home)
        world.ask(.resume(Self.clock))
        world = world.restored()
        world.pass(.seconds(20))
        world.ask(.suspend(Self.clock))
        #expect(world.state("clock") == .suspended)
        world.pass(.seconds(20))
        #expect(isConnected(world) == true)
    }

    // MARK: What it has not answered

    @Test func `app that does not reconnect is not killed for a missing answer`() {
        var world = silent(for: .seconds(1)).restored()
        world.pass(.milliseconds(34_999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
        #expect(!world.lines().contains("kill clock"))
    }

    @Test func `an app is not killed for its silence before the next daemon has looked for its channel`() {
        let world = silent(for: .seconds(4)).restored { world in
            world.now = world.now + .seconds(2)
            world.give(.tick)
        }
        #expect(world.state("clock") == .suspended)
        #expect(!world.transcript.contains("kill clock"))
    }

    @Test func `callback that did not arrive is repeated with its whole time`() {
        var world = silent(for: .seconds(4)).restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock) - 1), from: Self.clock)
        #expect(world.lines().last == "clock ← did-enter-background")
        #expect(world.told[Self.clock]?.last?.deadline == world.now + .seconds(5))
        world.pass(.milliseconds(4_999))
        #expect(world.state("clock") == .background)
        world.answer(Self.clock)
        #expect(world.decisions.last == .answered(Self.clock, .didEnterBackground, .milliseconds(4_999)))
        #expect(world.state("clock") == .suspended)
    }

    @Test(arguments: [(Duration.seconds(4), Duration.seconds(1)), (.milliseconds(4_900), .milliseconds(250))])
    func `callback that arrived keeps its deadline, and its answer can be read in any case`(
        after: Duration, left: Duration
    ) {
        var world = silent(for: after).restored()
        let told = world.told[Self.clock]?.count
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(world.told[Self.clock]?.count == told)
        world.pass(left - .milliseconds(1))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .backgroundTimeout)
    }

    @Test func `a resignation that was sent after a callback is answered after a restart, too`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.silent[Self.clock] = [.didBecomeActive, .willResignActive]
        world.ask(.focus(Self.clock))
        let activation = world.told[Self.clock]?.last?.sequence ?? 0
        world.ask(.home)
        world.pass(.seconds(1))
        world.give(.done(sequence: activation), from: Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .willResignActive)
        world = world.restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `reconnecting app that lost its foreground slot goes back when it answers`() {
        var world = running("clock", "maps")
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.focus(Self.maps))
        world = world.restored()
        world.pass(.seconds(1))
        #expect(world.state("maps") == .active)
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .willEnterForeground)
        world.answer(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .didEnterBackground)
    }

    @Test func `lock waits for the answer of an app on its way to the foreground`() {
        var world = running("clock", "maps")
        world.silent[Self.clock] = [.willEnterForeground, .protectedDataWillBecomeUnavailable]
        world.ask(.focus(Self.clock))
        let lock = world.ask(.machine(.lock))
        world.pass(.seconds(1))
        #expect(world.replies[lock] == nil)
        world.pass(.seconds(10))
        #expect(world.replies[lock] == .done(nil))
        #expect(world.state("clock")?.isForeground == false)
    }

    @Test func `app that loses its foreground slot while it launches can answer its launch callbacks`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.silent[Self.clock] = [.didFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world = world.restored()
        world.give(.define(Self.maps, Policy()))
        world.ask(.launch(Self.maps, background: false))
        world.pass(.seconds(1))
        #expect(world.state("maps") == .active)
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        world.answer(Self.clock)
        #expect(world.decisions.contains(.answered(Self.clock, .didFinishLaunching, .seconds(1))))
        #expect(world.told[Self.clock]?.last?.callback == .didEnterBackground)
    }

    @Test(arguments: [false, true])
    func `a task that an app may not have had is ordered again`(hasHad: Bool) {
        var world = running("clock")
        world.silent[Self.clock] = [.performTask]
        world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        world = world.restored()
        let last = world.sequence(of: Self.clock)
        world.give(.reconnected(lastSequence: hasHad ? last : last - 1), from: Self.clock)
        #expect(world.lines() == (hasHad ? [] : ["clock ← perform-task"]))
        world.answer(Self.clock, .result(.newData))
        #expect(world.lines().last == "! clock perform-task new-data")
    }

    @Test func `unanswered event is not repeated when another has replaced it`() {
        var world = running("maps", "clock")
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world = world.restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.maps)), from: Self.maps)
        world.ask(.focus(Self.maps))
        world.pass(.seconds(1))
        #expect(world.state("maps") == .active)
        _ = world.lines()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(!world.lines().contains("clock ← open-url"))
    }

    // MARK: What it may have heard

    /// An app that may or may not have heard that it is to resign.
    func uncertain() -> World {
        var world = running("maps", "clock")
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.focus(Self.maps))
        world = world.restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.maps)), from: Self.maps)
        world.pass(.seconds(2))
        #expect(world.state("clock") != .active)
        #expect(world.state("maps") == .active)
        world.silent = [:]
        _ = world.lines()
        return world
    }

    @Test(arguments: [false, true])
    func `app that reconnects gets the callbacks after its last one`(hasHad: Bool) {
        var world = uncertain()
        let last = world.sequence(of: Self.clock)
        world.give(.reconnected(lastSequence: hasHad ? last : last - 1), from: Self.clock)
        let told = world.lines().filter { $0.hasPrefix("clock ←") }
        #expect(told == (hasHad ? [] : ["clock ← will-resign-active"]) + ["clock ← did-enter-background"])
    }

    @Test(arguments: [false, true])
    func `callbacks of an earlier process or connection are not repeated`(ends: Bool) {
        var world = uncertain()
        if ends {
            world.ask(.kill(Self.clock))
        } else {
            world.pass(.seconds(40))
            #expect(isConnected(world) == false)
        }
        world.silent[Self.clock] = [.willFinishLaunching]
        if ends { world.ask(.launch(Self.clock, background: true)) } else { world.ask(.resume(Self.clock)) }
        if !ends { world.give(.hello, from: Self.clock) }
        #expect(world.told[Self.clock]?.last?.callback == .willFinishLaunching)
        world = world.restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        world.answer(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback != .willFinishLaunching)
        #expect(world.told[Self.clock]?.contains { $0.callback == .didFinishLaunching } == true)
        let callbacks = world.told[Self.clock]?.map(\.callback) ?? []
        let begin = callbacks.lastIndex(of: .willFinishLaunching) ?? 0
        #expect(callbacks[begin...].dropFirst().first == .didFinishLaunching)
    }

    // MARK: Scenes

    @Test func `nothing of its scenes is told to an app that is away`() {
        var world = SceneFixture.withTwoScenes()
        var policy = Policy()
        policy.scenes = true
        policy.callbacks = .required
        world = world.restored(policy)
        world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        #expect(!world.lines().contains { $0.contains("←") })
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        #expect(world.lines().contains("clock ← scene-will-connect scene-3 (system)"))
    }
}
