import Testing

@testable import LifecycleCore

/// What of an app's life is over with its process, and no part of the next one.
@Suite struct RelaunchTests {
    static let clock = AppID("clock")

    @Test func `an app that was in the foreground in its first life has not been there in its second`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        #expect(world.core.knownApps[Self.clock]?.lastInForeground != nil)
        world.ask(.terminate(Self.clock))
        #expect(world.core.knownApps[Self.clock]?.lastInForeground == nil)
        world.ask(.launch(Self.clock, background: true))
        _ = world.lines()
        world.give(.hello, from: Self.clock)
        #expect(!world.lines().contains("clock ← did-enter-background"))
    }

    @Test func `an app that is terminated, launched and terminated again while it ends is not launched`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        let first = world.ask(.terminate(Self.clock))
        let launch = world.ask(.launch(Self.clock, background: false))
        let last = world.ask(.terminate(Self.clock))
        #expect(world.replies[launch]?.name == "refused superseded")
        _ = world.lines()
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect([first, last].map { world.replies[$0]?.name } == ["done", "done"])
        #expect(world.state("clock") == .notRunning)
        #expect(!world.lines().contains("spawn clock"))
    }

    @Test func `stop of the first process does not count for the second`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.give(.stoppedByOther, of: Self.clock)
        world.ask(.kill(Self.clock))
        _ = world.lines()
        world.ask(.launch(Self.clock, background: false))
        #expect(!world.lines().contains("resume clock"))
    }

    @Test func `an app that was told to come and was killed is not awaited in the foreground in its second life`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.silent[Self.clock] = [.willEnterForeground]
        world.ask(.focus(Self.clock))
        world.ask(.kill(Self.clock))
        world.silent = [:]
        _ = world.lines()
        world.ask(.launch(Self.clock, background: true))
        world.pass(.seconds(30))
        #expect(world.state("clock") == .suspended)
        #expect(!world.lines().contains { $0.contains("active") })
    }

    @Test func `the termination timeout of an app that is killed meanwhile does not run out`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.withholding = [.killed]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.pass(.seconds(4))
        world.ask(.kill(Self.clock))
        _ = world.lines()
        world.pass(.seconds(2))
        #expect(!world.lines().contains("! termination overdue"))
    }

    @Test func `kill of an app that starts ends its termination timeout`() {
        var world = World(apps: "clock")
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.pass(.seconds(4))
        world.ask(.kill(Self.clock))
        _ = world.lines()
        world.pass(.seconds(2))
        #expect(!world.lines().contains("! termination overdue"))
    }

    @Test func `app that is terminated while it launches has its termination timeout`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(18))
        world.ask(.terminate(Self.clock))
        _ = world.lines()
        world.pass(.milliseconds(4_999))
        #expect(world.lines() == [])
        world.pass(.milliseconds(1))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
    }

    @Test func `an app of which processes are left when its main process has ended does not come back`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.give(.exited(.signal(11), othersLeft: true), of: Self.clock)
        world.give(.gone, of: Self.clock)
        #expect(world.state("clock") == .notRunning)
        #expect(world.core.foreground.isEmpty)
    }

    @Test func `an app whose main process has ended is told nothing more`() {
        var world = World(apps: "clock", linked: true)
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        world.give(.exited(.signal(11), othersLeft: true), of: Self.clock)
        #expect(
            world.lines() == [
                "! clock exited (crash)", "clock: active → terminating (crash)", "terminate clock",
            ])
    }

    @Test func `processes that are left when the main process has ended are not asked twice`() {
        var world = World(apps: "clock")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        _ = world.lines()
        world.give(.exited(.signal(15), othersLeft: true), of: Self.clock)
        #expect(world.lines() == ["! clock exited (terminate)"])
    }

    @Test(arguments: [Outcome.exited(.signal(11), othersLeft: true), .gone])
    func `home app does not wait for the remaining processes of an app`(end: Outcome) {
        var settings = Settings()
        settings.homeApp = AppID("home")
        var world = World(apps: "home", "clock", settings: settings)
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.give(end, of: Self.clock)
        #expect(world.core.foreground == [AppID("home")])
    }

    @Test func `scene that is opened while its app ends is there at the next launch`() throws {
        var world = SceneFixture.world()
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        let notes = try #require(SceneID("notes"))
        let open = world.ask(.openScene(Self.clock, SceneOpening(scene: notes, role: "panel"), background: false))
        world.pass(.seconds(5))
        #expect(world.core.knownApps[Self.clock]?.scenes[notes]?.role == "panel")
        #expect(world.replies[open]?.name == "done notes foregroundActive")
    }

    @Test func requestForALaunchThatIsCancelledIsNotCarriedOutByTheNextLaunch() throws {
        var world = SceneFixture.world()
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        let notes = try #require(SceneID("notes"))
        let requests = [
            world.ask(.deliver(Self.clock, .openURL("lifed:1"))),
            world.ask(.deliver(Self.clock, .performTask(kind: "fetch"))),
            world.ask(.openScene(Self.clock, SceneOpening(scene: notes), background: true)),
        ]
        world.ask(.terminate(Self.clock))
        #expect(requests.allSatisfy { world.replies[$0]?.name == "refused superseded" })
        world.pass(.seconds(5))
        #expect(world.state("clock") == .notRunning)
        _ = world.lines()
        world.ask(.launch(Self.clock, background: false))
        let callbacks = world.lines().filter { $0.hasPrefix("clock ←") }
        #expect(callbacks.contains("clock ← did-finish-launching"))
        #expect(!callbacks.contains { $0.hasSuffix("open-url") || $0.hasSuffix("perform-task") })
        #expect(world.scenes("clock") == ["main": .foregroundActive])
    }

    @Test func `request for an app that the kernel does not end is refused`() {
        var world = World(apps: "clock")
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        let kill = world.ask(.kill(Self.clock))
        world.pass(.seconds(1))
        world.give(.spawned, of: Self.clock)
        world.pass(.milliseconds(4_999))
        #expect(world.replies[kill] == nil)
        world.pass(.milliseconds(1))
        #expect(world.replies[kill] != nil)
    }

    @Test func `event of an app that crashes is lost, and its request is answered`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.openURL]
        let url = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        let next = world.ask(.deliver(Self.clock, .openURL("lifed:2")))
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(world.replies[url]?.name == "refused ended" && world.replies[next]?.name == "refused ended")
    }

    @Test func `pending callbacks of the first process are not sent to the second`() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.willFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        world.linked = []
        _ = world.lines()
        world.ask(.launch(Self.clock, background: false))
        #expect(!world.lines().contains { $0.contains("←") })
        #expect(world.state("clock") == .active)
    }

    @Test func `app that is needed again while its start is aborted is launched for the new reason`() {
        var world = World(apps: "clock", linked: true)
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.kill(Self.clock))
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.withholding = []
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.launch.reason == .url)
    }

    @Test(arguments: [false, true])
    func killDuringALaunchIsAnsweredWithTheEndAlthoughTheAppIsNeededAgain(isSeenToStart: Bool) {
        var world = World(apps: "clock", linked: true)
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        let kill = world.ask(.kill(Self.clock))
        let launch = world.ask(.launch(Self.clock, background: true))
        if isSeenToStart { world.give(.spawned, of: Self.clock) }
        #expect(world.replies[kill] == nil && world.replies[launch] == nil)
        world.withholding = []
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
        #expect(world.replies[kill]?.name == "done" && world.replies[launch]?.name == "done")
    }

    @Test(arguments: [false, true])
    func appThatIsNeededAgainWhileItsStartIsAbortedGetsWhatCameSince(takesURLs: Bool) throws {
        var world = SceneFixture.world()
        var policy = try #require(world.core.knownApps[Self.clock]?.policy)
        (policy.takesURLs, policy.callbacks) = (takesURLs, takesURLs ? .auto : .required)
        world.give(.define(Self.clock, policy))
        world.withholding = [.spawned, .killed]
        world.answers[Self.clock] = [.openURL: .handled(true)]
        let before = world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.ask(.kill(Self.clock))
        #expect(world.replies[before]?.name == "refused superseded")
        let notes = try #require(SceneID("notes"))
        let since = world.ask(.deliver(Self.clock, .openURL("lifed:2")))
        let scene = world.ask(.openScene(Self.clock, SceneOpening(scene: notes, role: "panel"), background: true))
        world.withholding = []
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
        #expect(world.replies[since]?.name == "handled")
        #expect(world.replies[scene]?.name.hasPrefix("done notes") == true)
        #expect(world.scene(notes)?.role == "panel")
        let lines = world.lines()
        #expect(
            lines.filter { $0.hasPrefix("! clock open-url") } == ["! clock open-url lost", "! clock open-url handled"])
        #expect(lines.count { $0 == "clock ← open-url" } == (takesURLs ? 0 : 1))
        #expect(world.told[Self.clock]?.first?.launch?.url == "lifed:2")
    }

    @Test func `resignation of the first process is not awaited from the second`() {
        var world = World(apps: "clock", linked: true)
        world.silent[Self.clock] = [.didBecomeActive, .willResignActive]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.beginInterruption("call"))
        world.ask(.kill(Self.clock))
        world.silent = [:]
        let launch = world.ask(.launch(Self.clock, background: true))
        #expect(world.replies[launch]?.doneApp == Self.clock)
        #expect(world.state("clock") == .suspended)
    }

    @Test func `resume of an app that cannot be started does not keep its next process running`() {
        var world = World(apps: "clock", linked: true)
        world.withholding = [.spawned]
        world.ask(.launch(Self.clock, background: true))
        world.ask(.resume(Self.clock))
        world.give(.spawnFailed(.noSuchProgram), of: Self.clock)
        world.withholding = []
        world.ask(.launch(Self.clock, background: true))
        #expect(world.state("clock") == .suspended)
    }

    @Test func `resume of an app that ends does not keep its next process running`() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.ask(.resume(Self.clock))
        world.give(.exited(.code(1), othersLeft: false), of: Self.clock)
        world.ask(.launch(Self.clock, background: true))
        #expect(world.state("clock") == .suspended)
    }
}
