import LifecycleCore
import Testing

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

    @Test func `saved reason is restored`() {
        for reason in Reason.allCases { #expect(Reason(saved: reason.rawValue) == reason) }
        #expect(Reason(saved: "a word of another version") == .none)
    }
}
