import LifecycleCore
import Testing

@Suite struct ForegroundTests {
    static let home = AppID("home")
    static let clock = AppID("clock")

    func kiosk() -> World {
        var settings = Settings()
        settings.homeApp = Self.home
        return World(apps: "home", "clock", settings: settings)
    }

    @Test func `the home app is in the foreground when no other app is`() {
        var world = kiosk()
        #expect(world.state("home") == .active)
        world.ask(.launch(Self.clock, background: false))
        world.give(.exited(.code(0), othersLeft: false), of: Self.clock)
        #expect(world.state("home") == .active)
        world.ask(.launch(Self.clock, background: false))
        let home = world.ask(.home)
        #expect(world.replies[home]?.doneApp == Self.home)
        #expect(world.replies[world.ask(.suspend(Self.home))] == .refused(.homeStaysInForeground(Self.home)))
    }

    @Test(arguments: [1, 2])
    func appThatIsDisplacedByAProgramThatCannotBeStartedComesBack(limit: Int) {
        var settings = Settings()
        settings.homeApp = Self.home
        settings.foregroundLimit = limit
        var world = World(apps: "home", "clock", "maps", settings: settings)
        world.broken = [AppID("maps")]
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(1))
        let launch = world.ask(.launch(AppID("maps"), background: false))
        #expect(world.replies[launch]?.name == "refused launchFailed")
        #expect(world.state("clock") == .active)
        #expect(world.core.foreground == (limit == 1 ? [Self.clock] : [Self.clock, Self.home]))
        #expect(!world.lines().contains("stop clock"))
    }

    @Test func appThatLeftTheForegroundBeforeStaysInTheBackground() {
        var world = World(apps: "clock", "maps")
        world.withholding = [.spawned]
        world.ask(.launch(Self.clock, background: false))
        world.give(.spawned, of: Self.clock)
        world.ask(.background(Self.clock))
        world.ask(.launch(AppID("maps"), background: false))
        world.give(.spawnFailed(.noSuchProgram), of: AppID("maps"))
        #expect(world.core.foreground.isEmpty)
        // The user goes home before the launch fails.
        world.ask(.focus(Self.clock))
        world.ask(.launch(AppID("maps"), background: false))
        world.ask(.home)
        world.give(.spawnFailed(.noSuchProgram), of: AppID("maps"))
        #expect(world.core.foreground.isEmpty)
    }

    @Test func `app that is sent to the background makes room for the home app`() {
        var world = kiosk()
        world.ask(.launch(Self.clock, background: false))
        let background = world.ask(.background(Self.clock))
        #expect(world.replies[background]?.doneApp == Self.clock)
        #expect(world.state("clock") != .active && world.state("home") == .active)
        // In the background already.
        #expect(world.replies[world.ask(.background(Self.clock))]?.doneApp == Self.clock)
        #expect(world.replies[world.ask(.background(Self.home))] == .refused(.homeStaysInForeground(Self.home)))
    }

    @Test func `app that is sent to the background leaves the other foreground apps there`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "home", "clock", settings: settings)
        for app in [Self.home, Self.clock] { world.ask(.launch(app, background: false)) }
        world.ask(.background(Self.clock))
        #expect(world.core.foreground == [Self.home] && world.state("home") == .active)
        let gone = world.ask(.terminate(Self.clock))
        #expect(world.replies[gone]?.doneApp == Self.clock)
        #expect(world.replies[world.ask(.background(Self.clock))] == .refused(.notRunning(Self.clock)))
    }

    @Test func `a home app that keeps crashing is started later and later`() {
        var world = kiosk()
        let crash = Outcome.exited(.signal(11), othersLeft: false)
        world.give(crash, of: Self.home)
        #expect(world.state("home") == .active)
        var delays: [Duration] = []
        for _ in 0..<7 {
            world.give(crash, of: Self.home)
            #expect(world.state("home") == .notRunning)
            let before = world.now
            guard let next = world.core.nextDeadline else { break }
            delays.append(next.duration(since: before))
            world.pass(next.duration(since: before))
            #expect(world.state("home") == .active)
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60].map { Duration.seconds($0) })
    }

    @Test func `home app that is terminated is launched again when it is gone`() {
        var world = kiosk()
        world.stubborn = [Self.home]
        let end = world.ask(.terminate(Self.home))
        #expect(world.state("home") == .terminating)
        world.pass(.seconds(5))
        #expect(world.replies[end]?.doneApp == Self.home)
        #expect(world.state("home") == .active)
    }

    @Test func `home app that a request ends has not failed`() {
        var world = kiosk()
        for _ in 0..<3 {
            world.ask(.kill(Self.home))
            #expect(world.state("home") == .active)
        }
    }

    @Test func `new home app does not inherit the failures of the previous one`() {
        var world = kiosk()
        for _ in 0..<4 {
            world.give(.exited(.signal(11), othersLeft: false), of: Self.home)
            world.pass(.seconds(4))
        }
        var settings = Settings()
        settings.homeApp = Self.clock
        world.give(.configure(settings))
        world.ask(.home)
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(world.state("clock") == .active)
    }

    @Test func `two foreground slots hold two active apps`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "clock", "maps", "mail", linked: true, settings: settings)
        for name in ["clock", "maps", "mail"] { world.ask(.launch(AppID(name), background: false)) }
        #expect(world.core.foreground == [AppID("mail"), AppID("maps")])
        #expect(world.state("mail") == .active && world.state("maps") == .active)
        #expect(world.state("clock") == .suspended)
        settings.foregroundLimit = 1
        world.give(.configure(settings))
        #expect(world.state("mail") == .active && world.state("maps") == .suspended)
    }

    @Test func `focus continues an app that another process stopped`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.give(.stoppedByOther, of: Self.clock)
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(world.lines() == ["reply 2 done", "resume clock"])
    }

    @Test func `a silent app gives up its place in time when there are fewer`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "clock", "maps", linked: true, settings: settings)
        for name in ["maps", "clock"] { world.ask(.launch(AppID(name), background: false)) }
        world.ask(.focus(AppID("maps")))
        world.silent[AppID("clock")] = [.willResignActive]
        settings.foregroundLimit = 1
        world.give(.configure(settings))
        #expect(world.state("clock") == .active)
        world.pass(.seconds(1))
        #expect(world.state("clock") != .active)
        #expect(world.state("maps") == .active)
    }

    @Test func `app on its way to the foreground waits when the foreground limit falls`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "clock", "maps", linked: true, settings: settings)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.home)
        world.ask(.launch(AppID("maps"), background: false))
        world.silent = [Self.clock: [.willEnterForeground], AppID("maps"): [.willResignActive]]
        world.ask(.focus(Self.clock))
        settings.foregroundLimit = 1
        world.give(.configure(settings))
        world.answer(Self.clock)
        #expect(world.state("clock") == .inactive && world.state("maps") == .active)
        world.pass(.seconds(1))
        #expect(world.state("clock") == .active && world.state("maps") != .active)
    }

    @Test func `app that another process stopped is continued once`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.give(.stoppedByOther, of: Self.clock)
        world.ask(.focus(Self.clock))
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(!world.lines().contains("resume clock"))
    }

    @Test func `interruption that is answered with one of two foreground apps ends for both`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "clock", "maps", linked: true, settings: settings)
        for name in ["maps", "clock"] { world.ask(.launch(AppID(name), background: false)) }
        world.ask(.beginInterruption("call"))
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .inactive && world.state("maps") == .inactive)
        world.ask(.endInterruption("call", answer: Self.clock))
        #expect(world.state("clock") == .active && world.state("maps") == .active)
    }

    @Test func `going home ends no interruption`() {
        var world = kiosk()
        world.ask(.beginInterruption("call"))
        let home = world.ask(.home)
        #expect(!world.core.interruptions.isEmpty)
        #expect(world.replies[home] == .refused(.superseded(Self.home, by: .interruption)))
        #expect(world.state("home") == .inactive)
    }

    @Test func `home request starts a home app whose restart is pending, and clears its failures`() {
        var world = kiosk()
        let crash = Outcome.exited(.signal(11), othersLeft: false)
        for _ in 0..<2 { world.give(crash, of: Self.home) }
        #expect(world.core.deadline(.restart, of: Self.home) != nil)
        world.ask(.home)
        #expect(world.core.deadline(.restart, of: Self.home) == nil)
        world.give(crash, of: Self.home)
        #expect(world.state("home") == .active)
    }

    @Test func `home app that is woken while its restart is pending starts once`() {
        var world = kiosk()
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.home) }
        world.ask(.wake(Self.home, kind: "fetch", payload: ""))
        #expect(world.core.knownApps[Self.home]?.isRunning == true)
        #expect(world.core.deadline(.restart, of: Self.home) == nil)
    }

    @Test func `home app that starts during an interruption is inactive`() {
        var world = kiosk()
        world.ask(.kill(Self.home))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.kill(Self.home))
        world.ask(.beginInterruption("call"))
        _ = world.lines()
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(world.lines().last == "home: notRunning → inactive (home)")
        world.ask(.endInterruption("call"))
        #expect(world.state("home") == .active)
    }

    @Test func `app that starts during an interruption gets its launch callbacks`() {
        var world = kiosk()
        world.linked = [Self.home]
        world.ask(.beginInterruption("call"))
        world.give(.exited(.signal(11), othersLeft: false), of: Self.home)
        #expect(world.state("home") == .inactive)
        #expect(world.told[Self.home]?.map(\.callback) == [.willFinishLaunching, .didFinishLaunching])
    }

    @Test func `apps get their slots in the order in which they come, with scenes or without`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "maps", "notes", "mail", linked: true, settings: settings)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.linked.insert(Self.clock)
        for name in ["clock", "mail"] { world.ask(.launch(AppID(name), background: true)) }
        for name in ["maps", "notes"] { world.ask(.launch(AppID(name), background: false)) }
        world.silent = [
            AppID("maps"): [.willResignActive], AppID("notes"): [.willResignActive], Self.clock: [.sceneWillConnect],
        ]
        for name in ["clock", "mail"] { world.ask(.focus(AppID(name))) }
        world.answer(AppID("maps"))
        #expect(world.state("mail") == .inactive)
        world.answer(Self.clock)
        #expect(world.state("clock") == .active && world.state("mail") == .inactive)
        world.answer(AppID("notes"))
        #expect(world.state("mail") == .active)
    }

    @Test func homeIsLaunchedForARequestBeforeTheDaemonIsReady() {
        let world = World(starting: ["home"], home: Self.home) { world in
            world.ask(.home)
            #expect(world.state("home") == .active)
        }
        #expect(world.state("home") == .active)
    }
}
