import LifecycleCore
import Simulation
import Testing

/// Apps that end by themselves and are started again, what comes to the foreground in their place, and what runs from the start.
@Suite struct RestartTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")
    static let home = AppID("home")
    static let crash = Outcome.exited(.signal(11), othersLeft: false)
    static let success = Outcome.exited(.code(0), othersLeft: false)

    func world(_ restart: RestartPolicy, onExit: ExitSuccessor = .home, home: Bool = false) -> World {
        var settings = Settings()
        if home { settings.homeApp = Self.home }
        var world = World(apps: "clock", "maps", "home", settings: settings)
        var policy = Policy()
        policy.restart = restart
        policy.onExit = onExit
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        _ = world.lines()
        return world
    }

    @Test(arguments: [RestartPolicy.never, .onFailure])
    func `app that exits with success is restarted only with restart always`(restart: RestartPolicy) {
        var world = world(restart)
        world.give(Self.success, of: Self.clock)
        world.pass(.seconds(100))
        #expect(world.state("clock") == .notRunning)
    }

    @Test(arguments: [Request.terminate(clock), .kill(clock)])
    func `app that a request ended is not restarted`(request: Request) {
        var world = world(.always)
        world.ask(request)
        world.pass(.seconds(100))
        #expect(world.state("clock") == .notRunning)
        #expect(world.core.deadline(.restart, of: Self.clock) == nil)
    }

    @Test func `app that crashes while it is terminated counts as terminated`() {
        var world = World(apps: "clock", linked: true)
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.willResignActive]
        let end = world.ask(.terminate(Self.clock))
        world.give(Self.crash, of: Self.clock)
        #expect(world.replies[end]?.doneApp == Self.clock)
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .terminate)
        #expect(world.state("clock") == .notRunning)
    }

    @Test func `nothing is started again during a shutdown`() {
        var world = world(.always)
        world.stubborn = [Self.clock]
        world.give(.shutDown)
        world.give(Self.crash, of: Self.clock)
        #expect(world.state("clock") == .notRunning)
        #expect(world.lines().last == "finished")
    }

    @Test func `app that keeps ending is restarted later and later, until the restart limit`() {
        var world = world(.always)
        var delays: [Duration] = []
        for _ in 0..<10 {
            world.give(Self.crash, of: Self.clock)
            let before = world.now
            guard let next = world.core.deadline(.restart, of: Self.clock) else { continue }
            delays.append(next.duration(since: before))
            world.pass(next.duration(since: before))
            #expect(world.state("clock") == .active)
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) })
        let lines = world.lines()
        #expect(lines.last == "! clock given up after 10")
        #expect(lines.contains("! clock restarted in 1.0 seconds"))
        #expect(world.core.knownApps[Self.clock]?.restart.isLimitReached == true)
        #expect(world.core.nextDeadline == nil)
        world.ask(.launch(Self.clock, background: false))
        #expect(world.core.knownApps[Self.clock]?.restart.isLimitReached == false)
        world.give(Self.crash, of: Self.clock)
        #expect(world.state("clock") == .active)
    }

    @Test func `app that runs for a minute has no failures`() {
        var world = world(.always)
        for _ in 0..<30 {
            world.pass(.seconds(60))
            world.give(Self.crash, of: Self.clock)
            #expect(world.state("clock") == .active)
        }
    }

    @Test func `app that ends after a minute has one failure`() {
        var world = world(.always)
        world.pass(.seconds(60))
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.deadline(.restart, of: Self.clock) == nil)
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.deadline(.restart, of: Self.clock) == world.now + .seconds(1))
    }

    @Test func homeAppThatCrashesWithProcessesLeftIsRestartedLaterAndLater() {
        var settings = Settings()
        settings.homeApp = Self.home
        var world = World(apps: "home", settings: settings)
        world.stubborn = [Self.home]
        for _ in 0..<2 {
            #expect(world.state("home") == .active)
            world.give(.exited(.signal(11), othersLeft: true), of: Self.home)
            world.give(.gone, of: Self.home)
        }
        #expect(world.state("home") == .notRunning)
        #expect(world.core.deadline(.restart, of: Self.home) == world.now + .seconds(1))
        world.pass(.seconds(1))
        #expect(world.state("home") == .active)
    }

    @Test func `home shows meanwhile, and gives way`() {
        var world = world(.always, home: true)
        world.give(Self.crash, of: Self.clock)
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.foreground == [Self.home])
        world.pass(.seconds(1))
        #expect(world.core.foreground == [Self.clock])
    }

    @Test(arguments: [Request.launch(maps, background: false), .home])
    func `app that was chosen while a restart was pending stays in the foreground`(choice: Request) {
        var world = world(.always, home: true)
        world.give(Self.crash, of: Self.clock)
        world.give(Self.crash, of: Self.clock)
        world.ask(choice)
        let chosen = world.core.foreground
        world.pass(.seconds(1))
        #expect(world.core.foreground == chosen)
        #expect(world.state("clock") == .background)
    }

    @Test func `terminate ends the waiting, too`() {
        var world = world(.always)
        world.give(Self.crash, of: Self.clock)
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.deadline(.restart, of: Self.clock) != nil)
        let end = world.ask(.terminate(Self.clock))
        #expect(world.replies[end]?.doneApp == Self.clock)
        world.pass(.seconds(100))
        #expect(world.state("clock") == .notRunning)
        #expect(world.replies[world.ask(.terminate(Self.clock))] == .refused(.notRunning(Self.clock)))
    }

    @Test func `a policy that is taken back counts no more`() {
        var world = world(.always)
        world.give(Self.crash, of: Self.clock)
        world.give(Self.crash, of: Self.clock)
        world.give(.define(Self.clock, Policy()))
        #expect(world.core.deadline(.restart, of: Self.clock) == nil)
    }

    @Test func `failed start is repeated only if no request was refused for it`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.restart = .onFailure
        world.give(.define(Self.clock, policy))
        world.broken = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        #expect(world.core.nextDeadline == nil)
        world.broken = []
        world.ask(.launch(Self.clock, background: false))
        world.broken = [Self.clock]
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.deadline(.restart, of: Self.clock) == world.now + .seconds(1))
        world.broken = []
        world.pass(.seconds(1))
        #expect(world.state("clock") == .active)
    }

    // MARK: What comes to the foreground

    func front(onExit: ExitSuccessor, end: (inout World) -> Void) -> [AppID] {
        var settings = Settings()
        settings.homeApp = Self.home
        var world = World(apps: "clock", "maps", "home", settings: settings)
        var policy = Policy()
        policy.onExit = onExit
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.maps, background: false))
        world.pass(.seconds(1))
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(10))
        end(&world)
        return world.core.foreground
    }

    @Test func `exit brings home or the previous app to the foreground`() {
        #expect(front(onExit: .home) { $0.give(Self.success, of: Self.clock) } == [Self.home])
        #expect(front(onExit: .previous) { $0.give(Self.success, of: Self.clock) } == [Self.maps])
        #expect(front(onExit: .previous) { $0.give(Self.crash, of: Self.clock) } == [Self.maps])
        #expect(front(onExit: .previous) { $0.ask(.terminate(Self.clock)) } == [Self.maps])
    }

    @Test func `app that restarts has no foreground slot before it runs`() {
        var world = World(apps: "clock", "maps", linked: true)
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.maps] = [.willResignActive]
        world.ask(.launch(Self.clock, background: false))
        #expect(world.core.record.all("place") == ["maps", "clock"])
        world.withholding = [.spawned]
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.isSpawning == true)
        #expect(world.core.record.all("place") == ["maps"])
    }

    @Test func `previous app that has ended does not come to the foreground`() {
        let front = front(onExit: .previous) { world in
            world.ask(.kill(Self.maps))
            world.give(Self.success, of: Self.clock)
        }
        #expect(front == [Self.home])
    }

    @Test func `exit of a background app leaves the foreground unchanged`() {
        let front = front(onExit: .previous) { world in
            world.ask(.home)
            world.give(Self.success, of: Self.clock)
        }
        #expect(front == [Self.home])
    }

    // MARK: At the start

    /// - Parameter previousHadStarted: Whether the previous daemon had started; nil if there was none.
    func started(_ places: [String: LaunchPosition], home: AppID? = nil, previousHadStarted: Bool? = nil) -> World {
        var world = World(starting: places.keys.sorted(), home: home) { world in
            if let previousHadStarted {
                if previousHadStarted { world.give(.start) }
                world.core = Engine(
                    restoring: world.core.record, apps: [SavedRecord](), settings: world.core.settings,
                    policy: { _ in nil },
                    at: world.now)
            }
            for (name, place) in places {
                var policy = Policy()
                policy.launchAtStart = place
                world.give(.define(AppID(name), policy))
            }
        }
        world.give(.start)
        return world
    }

    @Test func `apps that launch at the start run, and the last one is in the foreground`() {
        var world = started(["clock": .foreground, "mail": .background, "maps": .foreground], home: AppID("mail"))
        #expect(world.core.foreground == [Self.maps])
        #expect(world.state("clock") == .background && world.state("mail") == .background)
        #expect(world.lines().filter { $0.hasPrefix("spawn") } == ["spawn clock", "spawn maps", "spawn mail"].sorted())
        for app in world.core.knownApps.values { #expect(world.core.launch(of: app.id)?.reason == .boot) }
    }

    @Test func `a daemon that continues from another one launches none`() {
        var world = started(["clock": .foreground, "mail": .background], previousHadStarted: true)
        #expect(!world.lines().contains { $0.hasPrefix("spawn") })
    }

    @Test func `a daemon that was killed before its start leaves the launches to the next daemon`() {
        var world = started(["clock": .foreground, "mail": .background], previousHadStarted: false)
        #expect(world.lines().filter { $0.hasPrefix("spawn") } == ["spawn clock", "spawn mail"])
    }

    // MARK: The next daemon

    @Test func `an exit that was written down calls for restoration, unless something later is known`() {
        let old = ExitRecord(state: .active, reason: .crash, status: .signal(11), instant: Instant(microseconds: 0))
        var world = World(apps: "clock")
        world.give(.remember(Self.clock, old))
        #expect(world.core.launch(of: Self.clock)?.restores == true)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.give(.remember(Self.clock, old))
        #expect(world.core.launch(of: Self.clock)?.restores == false)
    }

    @Test func `pending restart survives a restart of the daemon`() throws {
        var world = world(.always, home: true)
        world.give(Self.crash, of: Self.clock)
        world.give(Self.crash, of: Self.clock)
        var policy = Policy()
        policy.restart = .always
        world.core = Engine(
            restoring: world.core.record, apps: world.core.records, settings: world.core.settings,
            policy: { $0 == Self.clock ? policy : Policy() }, at: world.now)
        world.give(.resumeRestored)
        world.give(.start)
        world.pass(.seconds(1))
        #expect(world.core.foreground == [Self.clock])
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.deadline(.restart, of: Self.clock) == world.now + .seconds(2))
    }

    @Test func `a minute is calm, and less is not`() {
        var world = world(.always)
        for time in [Duration.seconds(60), .milliseconds(59_999)] {
            world.pass(time)
            world.give(Self.crash, of: Self.clock)
        }
        #expect(world.core.deadline(.restart, of: Self.clock) == world.now + .seconds(1))
    }

    @Test func appThatAnswersAnInterruptionHasNoFailuresLeft() {
        var world = world(.always)
        for _ in 0..<3 {
            world.give(Self.crash, of: Self.clock)
            if let time = world.core.deadline(.restart, of: Self.clock) { world.pass(time.duration(since: world.now)) }
        }
        world.give(Self.crash, of: Self.clock)
        #expect(world.core.knownApps[Self.clock]?.restart == .failed(times: 4))
        world.ask(.beginInterruption("call"))
        world.ask(.endInterruption("call", answer: Self.clock))
        #expect(world.state("clock") == .active && world.core.knownApps[Self.clock]?.restart == .steady)
    }
}
