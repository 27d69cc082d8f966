import Simulation
import Testing

@testable import LifecycleCore

/// What apps are handed and told beside their life cycle.
@Suite struct EventTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")
    static let page = AppEvent.openURL("https://example.org/", type: "text/html")

    func running(_ names: [String], linked: Bool = true) -> World {
        var world = World(apps: "clock", "maps", linked: linked)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    @Test func `launched to open a URL`() {
        var world = World(apps: "clock", linked: true)
        world.answers[Self.clock] = [.openURL: .handled(true)]
        world.ask(.deliver(Self.clock, Self.page))
        #expect(
            world.lines() == [
                "spawn clock",
                "clock: notRunning → inactive (url)",
                "clock: inactive → active (url)",
                "clock: active → inactive (url)",
                "clock ← will-finish-launching",
                "clock ← did-finish-launching",
                "clock ← open-url",
                "! clock open-url handled",
                "clock: inactive → active (url)",
                "reply 1 handled",
                "clock ← did-become-active",
            ])
    }

    @Test func `the launch callbacks tell of the URL, and no to both means no`() {
        var world = World(apps: "clock", linked: true)
        world.answers[Self.clock] = [
            .willFinishLaunching: .handled(false), .didFinishLaunching: .handled(false), .openURL: .handled(true),
        ]
        world.ask(.deliver(Self.clock, Self.page))
        #expect(world.core.knownApps[Self.clock]?.launch.url == "https://example.org/")
        #expect(!world.transcript.contains("clock ← open-url"))
        #expect(world.replies[1]?.name == "declined")
        world.ask(.deliver(Self.clock, Self.page))
        #expect(world.replies[2]?.name == "handled")
    }

    @Test(arguments: [Callback.willFinishLaunching, .didFinishLaunching])
    func `URL that one of two callbacks declines is handled`(callback: Callback) {
        var world = World(apps: "clock", linked: true)
        world.answers[Self.clock] = [callback: .handled(false), .openURL: .handled(true)]
        world.ask(.deliver(Self.clock, Self.page))
        #expect(world.replies[1]?.name == "handled")
    }

    @Test func `brought back to open a URL`() {
        var world = running(["clock", "maps"])
        world.answers[Self.clock] = [.openURL: .handled(false)]
        world.ask(.deliver(Self.clock, Self.page))
        #expect(
            world.lines().filter { $0.contains("clock") || $0.contains("reply") } == [
                "resume clock",
                "clock: suspended → background (url)",
                "clock ← will-enter-foreground",
                "clock: background → inactive (url)",
                "clock ← open-url",
                "! clock open-url declined",
                "clock: inactive → active (url)",
                "reply 3 declined",
                "clock ← did-become-active",
            ])
    }

    @Test func `active app gets its event at once`() {
        var world = running(["clock"])
        world.answers[Self.clock] = [.continueActivity: .handled(true)]
        world.ask(.deliver(Self.clock, .continueActivity(type: "org.example.read")))
        #expect(world.lines() == ["clock ← continue-activity", "! clock continue-activity handled", "reply 2 handled"])
    }

    @Test func `event that is not answered ends as unanswered`() {
        var world = running(["clock", "maps"])
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, Self.page))
        world.pass(.milliseconds(4999))
        #expect(world.state("clock") == .inactive)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .active)
        #expect(world.replies[3]?.name == "unanswered")
    }

    @Test func `app that does not answer an event delays a switch by one second`() {
        var world = running(["maps", "clock"])
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, Self.page))
        world.ask(.focus(Self.maps))
        world.pass(.seconds(1))
        #expect(world.state("maps") == .active)
        #expect(world.replies[3]?.name == "refused superseded")
    }

    @Test func `event of an app that is terminated is lost`() {
        var world = running(["maps", "clock"])
        world.silent[Self.maps] = [.willEnterForeground]
        world.ask(.deliver(Self.maps, Self.page))
        world.ask(.terminate(Self.maps))
        #expect(world.replies[3]?.name == "refused superseded")
        #expect(world.core.knownApps[Self.maps]?.events == [])
    }

    @Test func `event of an app that leaves the foreground first is delivered on its return`() {
        var world = running(["maps", "clock"])
        world.withholding = [.resumed]
        world.ask(.deliver(Self.maps, Self.page))
        world.ask(.focus(Self.clock))
        #expect(world.replies[3]?.name == "refused superseded")
        world.withholding = []
        world.give(.resumed, of: Self.maps)
        _ = world.lines()
        world.ask(.focus(Self.maps))
        let told = world.lines().filter { $0.hasPrefix("maps ←") }
        #expect(told == ["maps ← will-enter-foreground", "maps ← open-url", "maps ← did-become-active"])
    }

    @Test func `event waits for an app that connects late, and ends for one that never does`() {
        var world = running([], linked: false)
        world.ask(.deliver(Self.clock, Self.page))
        world.pass(.seconds(3))
        world.answers[Self.clock] = [.openURL: .handled(true)]
        world.give(.hello, from: Self.clock)
        #expect(world.replies[1]?.name == "handled")
        world.ask(.deliver(Self.maps, Self.page))
        world.pass(.seconds(20))
        #expect(world.replies[2]?.name == "not-listening")
        world.ask(.deliver(Self.maps, Self.page))
        #expect(world.replies[3]?.name == "not-listening")
    }

    @Test func `change of the manifest does not prolong the wait for a connection`() {
        var world = running([], linked: false)
        world.ask(.deliver(Self.clock, Self.page))
        world.pass(.seconds(10))
        var policy = Policy()
        policy.timeouts.launch = .seconds(60)
        world.give(.define(Self.clock, policy))
        world.pass(.seconds(10))
        #expect(world.replies[1]?.name == "not-listening")
    }

    @Test func `program that takes URLs gets its URL as an argument`() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.takesURLs = true
        world.give(.define(Self.clock, policy))
        world.ask(.deliver(Self.clock, Self.page))
        #expect(world.replies[1]?.name == "handled")
        #expect(!world.lines().contains("clock ← open-url"))
        world.ask(.deliver(Self.clock, Self.page))
        #expect(world.lines().contains("clock ← open-url"))
    }

    @Test func `a task is done in the background, and the app sleeps again`() {
        var world = running(["clock", "maps"])
        world.answers[Self.clock] = [.performTask: .result(.newData)]
        world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        #expect(
            world.lines() == [
                "resume clock",
                "clock: suspended → background (displaced)",
                "clock ← perform-task",
                "! clock perform-task new-data",
                "reply 3 new-data",
                "stop clock",
                "clock: background → suspended (idle)",
            ])
    }

    @Test func `launched in the background for a task`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        #expect(
            world.lines() == [
                "spawn clock",
                "clock: notRunning → background (wake)",
                "clock ← will-finish-launching",
                "clock ← did-finish-launching",
                "clock ← perform-task",
                "! clock perform-task no-data",
                "reply 1 no-data",
                "stop clock",
                "clock: background → suspended (idle)",
            ])
    }

    @Test func `perform-task delays no switch, and has 30 s`() {
        var world = running(["clock", "maps"])
        world.silent[Self.clock] = [.performTask]
        world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .active)
        world.ask(.focus(Self.maps))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(29_999))
        #expect(world.state("clock") == .background)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") == .suspended)
        #expect(world.replies[3]?.name == "unanswered")
    }

    @Test func `pending warnings coalesce, and opposite events cancel`() {
        var world = running(["clock", "maps"])
        for _ in 0..<3 {
            world.core.queue(Self.clock, .notice(.significantTimeChange))
            world.core.queue(Self.clock, .notice(.protectedDataWillBecomeUnavailable))
            world.core.queue(Self.clock, .notice(.protectedDataDidBecomeAvailable))
        }
        world.core.queue(Self.clock, .notice(.memoryWarning))
        world.give(.tick)
        #expect(world.lines() == [])
        world.ask(.focus(Self.clock))
        #expect(
            world.lines().filter { $0.hasPrefix("clock ←") } == [
                "clock ← will-enter-foreground", "clock ← did-become-active", "clock ← significant-time-change",
                "clock ← memory-warning",
            ])
    }

    @Test func `more events than can be wanted are refused`() {
        var world = running(["clock", "maps"])
        world.silent[Self.clock] = [.willEnterForeground]
        for _ in 0..<16 { world.ask(.deliver(Self.clock, Self.page)) }
        #expect(world.replies.count == 2)
        world.ask(.deliver(Self.clock, Self.page))
        #expect(world.replies[19]?.name == "refused tooManyEvents")
        world.ask(.kill(Self.clock))
        #expect(world.replies.count == 20)
    }

    @Test func `a URL for an app that is ending is for its next launch`() {
        var world = running(["clock"])
        world.stubborn = [Self.clock]
        world.answers[Self.clock] = [.openURL: .handled(true)]
        world.ask(.terminate(Self.clock))
        world.ask(.deliver(Self.clock, Self.page))
        world.pass(.seconds(5))
        #expect(world.replies[3]?.name == "handled")
        #expect(world.core.knownApps[Self.clock]?.launch.url == "https://example.org/")
    }

    @Test(arguments: [
        AppEvent.openURL("a b\u{0A}%", type: nil, source: "x"), .openURL("x:", type: "a/b"),
        .continueActivity(type: "t"),
        .performTask(kind: "k", payload: "{}"), .notice(.memoryWarning),
        .notice(.significantTimeChange),
        .notice(.protectedDataDidBecomeAvailable), .notice(.protectedDataWillBecomeUnavailable),
    ])
    func `an event is saved and read again`(event: AppEvent) {
        let queued = QueuedEvent(number: 7, event: event)
        #expect(QueuedEvent(text: queued.text) == queued)
    }

    @Test func `work that is lost with a suspension at once is not delivered later`() {
        var world = running(["clock"])
        world.silent[Self.clock] = [.performTask]
        let works = ["fetch", "sync"].map { world.ask(.deliver(Self.clock, .performTask(kind: $0))) }
        world.ask(.suspend(Self.clock, now: true))
        for work in works { #expect(world.replies[work]?.name == "refused superseded") }
        #expect(world.state("clock") == .suspended)
        _ = world.lines()
        world.ask(.resume(Self.clock))
        #expect(!world.lines().contains("clock ← perform-task"))
    }

    @Test func `work of an app that was suspended at once may begin an activity`() {
        var world = running(["clock"])
        var policy = Policy()
        policy.backgroundModes = ["audio"]
        world.give(.define(Self.clock, policy))
        world.ask(.suspend(Self.clock, now: true))
        world.silent[Self.clock] = [.performTask]
        world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        world.give(.beginActivity(1, mode: "audio"), from: Self.clock)
        world.answer(Self.clock, .result(.newData))
        #expect(world.state("clock") == .background)
        world.give(.endAssertion(1), from: Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func `background launch is refused if the app does not answer did-become-active`() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.didBecomeActive]
        let launch = world.ask(.launch(Self.clock, background: false, untilAnswered: true))
        world.pass(.milliseconds(4_999))
        #expect(world.replies[launch] == nil)
        world.pass(.milliseconds(1))
        #expect(world.replies[launch] == .refused(.unanswered(Self.clock, .didBecomeActive)))
    }

    @Test func activationThatWasNotAnsweredIsMissingForLaterRequests() {
        let clock = AppID("clock")
        var world = World(apps: "clock", "maps", linked: true)
        world.silent[clock] = [.didBecomeActive]
        world.ask(.launch(clock, background: false))
        world.pass(.seconds(6))
        let again = world.ask(.focus(clock, untilAnswered: true))
        #expect(world.replies[again] == .refused(.unanswered(clock, .didBecomeActive)))
        #expect(world.replies[world.ask(.focus(clock))]?.doneApp == clock)
        // The next activation counts for itself.
        world.silent = [:]
        world.ask(.launch(AppID("maps"), background: false))
        let next = world.ask(.focus(clock, untilAnswered: true))
        #expect(world.replies[next]?.doneApp == clock)
    }

    @Test func activationOfAProcessThatEndedIsNotMissing() {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        world.silent[clock] = [.didBecomeActive]
        world.ask(.launch(clock, background: false))
        world.pass(.seconds(6))
        world.silent = [:]
        world.give(.closed, from: clock)
        world.give(.hello, from: clock)
        let launch = world.ask(.launch(clock, background: false, untilAnswered: true))
        #expect(world.replies[launch]?.doneApp == clock)
    }

    @Test func appThatIsSureToConnectIsToldOfItsURL() {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        (policy.callbacks, policy.takesURLs) = (.required, true)
        world.give(.define(clock, policy))
        world.answers[clock] = [.willFinishLaunching: .handled(false), .didFinishLaunching: .handled(false)]
        let declined = world.ask(.deliver(clock, .openURL("lifed:1")))
        #expect(world.replies[declined]?.name == "declined")
        world.ask(.terminate(clock))
        world.answers[clock] = [.openURL: .handled(true)]
        world.withholding = [.spawned]
        let url = world.ask(.deliver(clock, .openURL("lifed:2")))
        #expect(world.core.knownApps[clock]?.launch.url == "lifed:2")
        #expect(world.core.knownApps[clock]?.argumentURL == nil)
        world.give(.spawned, of: clock)
        world.give(.hello, from: clock)
        #expect(world.replies[url]?.name == "handled")
        #expect(world.lines().contains("clock ← open-url"))
    }

    @Test func eventThatTheAppHasWhenItLeavesItsChannelIsUnanswered() {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(clock, background: false))
        world.silent[clock] = [.performTask]
        let work = world.ask(.wake(clock, kind: "fetch", payload: ""))
        world.give(.closed, from: clock)
        world.pass(.seconds(2))
        #expect(world.replies[work]?.name == "unanswered")
    }

    @Test func requestForAnAppThatEndsByItselfSaysSo() {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(clock, background: false))
        world.silent[clock] = [.openURL]
        let url = world.ask(.deliver(clock, .openURL("lifed:1")))
        world.give(.exited(.code(0), othersLeft: true), of: clock)
        #expect(world.replies[url]?.name == "refused ended")
    }

    @Test func appThatHearsLateOfTheBackgroundIsToldTheRestOfTheTime() {
        let clock = AppID("clock")
        var world = World(apps: "clock")
        var policy = Policy()
        policy.timeouts.background = .seconds(60)
        world.give(.define(clock, policy))
        world.ask(.launch(clock, background: false))
        world.ask(.home)
        world.pass(.seconds(28))
        world.linked = [clock]
        world.give(.hello, from: clock)
        let background = world.told[clock]?.first { $0.callback == .didEnterBackground }
        #expect(background?.taskTime == .seconds(2))
    }

    @Test func taskOfAnAppThatIsSuspendedAtOnceIsLostAndNotDelivered() {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(clock, background: false))
        world.silent[clock] = [.performTask]
        world.ask(.home)
        world.ask(.deliver(clock, .performTask(kind: "fetch")))
        world.ask(.deliver(clock, .performTask(kind: "sync")))
        world.ask(.suspend(clock, now: true))
        #expect(world.core.knownApps[clock]?.events.isEmpty == true && world.state("clock") == .suspended)
        _ = world.lines()
        world.ask(.focus(clock))
        #expect(!world.lines().contains("clock ← perform-task"))
    }
}
