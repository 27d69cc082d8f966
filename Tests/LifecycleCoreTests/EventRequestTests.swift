import Testing

@testable import LifecycleCore

/// The outcome of events when something else happens to their app.
@Suite struct EventRequestTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")
    static let page = AppEvent.openURL("lifed:1")

    func running(_ names: String..., linked: Bool = true) -> World {
        var world = World(apps: "clock", "maps", linked: linked)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    static func policy(_ callbacks: CallbackPolicy = .auto, takesURLs: Bool = false) -> Policy {
        var policy = Policy()
        policy.callbacks = callbacks
        policy.takesURLs = takesURLs
        return policy
    }

    @Test func `event that is refused with the end of its app is not delivered to the app that stays`() {
        var world = running("clock")
        world.silent[Self.clock] = [.memoryWarning, .willResignActive]
        world.give(.memory(.short))
        let open = world.ask(.deliver(Self.clock, Self.page))
        world.ask(.terminate(Self.clock))
        #expect(world.replies[open]?.name == "refused superseded")
        let launch = world.ask(.launch(Self.clock, background: false))
        world.answerAll(Self.clock)
        #expect(world.replies[launch]?.doneApp == Self.clock)
        let lines = world.lines()
        #expect(lines.contains("! clock open-url lost") && !lines.contains("clock ← open-url"))
    }

    // MARK: Answers

    @Test func `each work request has an answer of its own`() {
        var world = running("clock")
        world.silent[Self.clock] = [.willEnterForeground, .openURL]
        world.ask(.home)
        let focus = world.ask(.launch(Self.clock, background: false))
        let first = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        let second = world.ask(.deliver(Self.clock, .openURL("lifed:2")))
        world.answer(Self.clock)
        #expect(world.told[Self.clock]?.last?.callback == .openURL)
        world.answer(Self.clock, .handled(true))
        #expect(world.replies[first]?.name == "handled")
        #expect(world.replies[second] == nil)
        world.answer(Self.clock, .handled(false))
        #expect(world.replies[second]?.name == "declined")
        #expect(world.replies[focus]?.doneApp == Self.clock)
        #expect(world.core.knownApps[Self.clock]?.waiters.isEmpty == true)
    }

    @Test func `answers to a callback and to a task beside it are told apart`() {
        var world = running("clock")
        world.silent[Self.clock] = [.performTask]
        world.ask(.home)
        let first = world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        let number = world.told[Self.clock]?.last?.sequence
        world.ask(.focus(Self.clock))
        #expect(world.told[Self.clock]?.last?.callback == .didBecomeActive)
        #expect(world.replies[first] == nil)
        world.give(.done(sequence: number ?? 0, .result(.failed)), from: Self.clock)
        #expect(world.replies[first]?.name == "failed")
    }

    @Test func `event and task of an app that crashes are lost`() {
        var world = running("clock")
        world.silent[Self.clock] = [.performTask, .openURL]
        let task = world.ask(.deliver(Self.clock, .performTask(kind: "fetch")))
        let url = world.ask(.deliver(Self.clock, Self.page))
        _ = world.lines()
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        let lines = world.lines()
        #expect(lines.contains("! clock perform-task lost") && lines.contains("! clock open-url lost"))
        #expect(world.replies[task]?.name == "refused ended" && world.replies[url]?.name == "refused ended")
    }

    @Test func `event that waits is not-listening when the manifest forbids callbacks`() {
        var world = running(linked: false)
        let url = world.ask(.deliver(Self.clock, Self.page))
        world.give(.define(Self.clock, Self.policy(.none)))
        #expect(world.replies[url]?.name == "not-listening")
        #expect(world.core.nextDeadline == nil)
    }

    @Test(arguments: [(false, "not-listening", "not-listening"), (true, "handled", "not-listening")])
    func `app without callbacks gets its URL as an argument`(
        takesURLs: Bool, url: String, activity: String
    ) {
        var world = running()
        world.give(.define(Self.clock, Self.policy(.none, takesURLs: takesURLs)))
        #expect(world.replies[world.ask(.deliver(Self.clock, .continueActivity(type: "read")))]?.name == activity)
        #expect(world.state("clock") == .notRunning)
        #expect(world.replies[world.ask(.deliver(Self.clock, Self.page))]?.name == url)
    }

    @Test func `a no to the first launch callback of another life counts no more`() {
        var world = running()
        world.answers[Self.clock] = [.willFinishLaunching: .handled(false), .didFinishLaunching: .handled(true)]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.answers[Self.clock] = [.didFinishLaunching: .handled(false), .openURL: .handled(true)]
        world.silent[Self.clock] = [.willFinishLaunching]
        let url = world.ask(.deliver(Self.clock, Self.page))
        world.pass(.seconds(20))
        #expect(world.replies[url]?.name == "handled")
    }

    @Test func `scene shows the URL that the app opens`() throws {
        var world = SceneFixture.world()
        world.ask(.deliver(Self.clock, Self.page))
        let told = world.told[Self.clock]?.map(\.callback) ?? []
        let scene = try #require(told.firstIndex(of: .sceneWillEnterForeground))
        let url = try #require(told.firstIndex(of: .openURL))
        #expect(scene < url)
        #expect(url < (told.firstIndex(of: .sceneDidBecomeActive) ?? 0))
    }

    // MARK: The lock

    @Test func `running background app hears of the lock`() {
        var world = running("maps", "clock")
        world.ask(.resume(Self.maps))
        _ = world.lines()
        world.ask(.machine(.lock))
        #expect(world.lines().contains("maps ← protected-data-will-become-unavailable"))
    }

    @Test func `app that the lock stops before it is active hears of the lock and goes back`() {
        var world = running("clock", "maps")
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.machine(.lock))
        world.silent[Self.clock] = []
        _ = world.lines()
        world.answer(Self.clock)
        #expect(
            world.lines().filter { $0.hasPrefix("clock ←") } == [
                "clock ← protected-data-will-become-unavailable", "clock ← did-enter-background",
            ])
    }

    @Test func `event of an app on its way to the foreground is lost when the app is to end`() {
        var world = running("clock", "maps")
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, Self.page))
        #expect(world.state("clock") == .inactive)
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        #expect(world.lines().contains("! clock open-url lost"))
    }
}
