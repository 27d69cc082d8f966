import Testing

@testable import LifecycleCore

/// One word stands for one reason.
@Suite struct ReasonTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    static func step(_ name: String, _ world: inout World) -> [String] {
        world.lines().filter { $0.hasPrefix("\(name):") }
    }

    @Test func `app that is displaced before its launch keeps the reason of its request`() {
        var world = World(apps: "clock", "maps")
        world.stubborn = [Self.clock]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.terminate(Self.clock))
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        world.ask(.launch(Self.maps, background: false))
        world.pass(.seconds(5))
        #expect(world.core.launch(of: Self.clock)?.reason == .url)
        #expect(world.core.launch(of: Self.clock)?.previous?.reason == .terminate)
    }

    @Test func `app that leaves for a lower foreground limit has that as the reason`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        var world = World(apps: "clock", "maps", settings: settings)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.launch(Self.maps, background: false))
        _ = world.lines()
        settings.foregroundLimit = 1
        world.give(.configure(settings))
        #expect(
            Self.step("clock", &world) == [
                "clock: active → inactive (foreground-limit)", "clock: inactive → background (foreground-limit)",
            ])
    }

    @Test func `app whose policy forbids suspension resumes with the policy as the reason`() {
        var world = World(apps: "clock", "maps")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        _ = world.lines()
        var policy = Policy()
        policy.suspend = .never
        world.give(.define(Self.clock, policy))
        #expect(Self.step("clock", &world) == ["clock: suspended → background (policy)"])
    }

    @Test func useAndOriginAndResultHaveTheWordsOfTheirConsequences() {
        for use in Use.allCases { #expect(use.reason.rawValue == use.rawValue) }
        for origin in Scene.Origin.allCases { #expect(origin.reason.rawValue == origin.rawValue) }
        for result in TaskResult.allCases { #expect(EventOutcome(result).rawValue == result.rawValue) }
    }

    @Test func reasonsAreDividedByTheirRoles() {
        let launches = Reason.allCases.filter { $0.isLaunchReason }
        #expect(launches == [.launch, .adopt, .boot, .restart, .home, .url, .activity, .wake, .scene])
        let endsBySystem = Reason.allCases.filter { $0.callsForRestoration }
        #expect(
            endsBySystem == [
                .crash, .signalled, .keeperEnded, .backgroundTimeout, .taskTimeout, .launchTimeout, .reclaimed,
            ])
        let ends = Reason.allCases.filter { $0.isExitReason && !$0.callsForRestoration }
        #expect(ends == [.release, .terminate, .kill, .shutdown, .exit])
        #expect(endsBySystem.allSatisfy { $0.isExitReason })
    }

    @Test func `saved reason is restored`() {
        for reason in Reason.allCases { #expect(Reason(saved: reason.rawValue) == reason) }
        #expect(Reason(saved: "a word of another version") == .none)
    }
}
