import Simulation
import Testing

@testable import LifecycleCore

/// What new settings and manifests do to apps that run, wait, or are gone.
@Suite struct DefinitionTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    static func settings(foregroundLimit: Int = 1, home: AppID? = nil) -> Settings {
        var settings = Settings()
        settings.foregroundLimit = foregroundLimit
        settings.homeApp = home
        return settings
    }

    @Test func `apps with equal facts are equal`() {
        var world = World(apps: "clock", "maps")
        let before = world.core.knownApps[Self.clock]
        #expect(before != world.core.knownApps[Self.maps])
        world.ask(.launch(Self.clock, background: false))
        #expect(before != world.core.knownApps[Self.clock])
        #expect(before == World(apps: "clock").core.knownApps[Self.clock])
    }

    @Test func `an app that is forgotten is none of those that are known`() {
        var world = World(apps: "clock", "maps")
        world.give(.forget(Self.clock))
        #expect(world.core.knownApps.count == 1)
        #expect(Array(world.core.knownApps.keys) == [Self.maps])
    }

    @Test func `there is always a place in the foreground`() {
        var world = World(apps: "clock", settings: Self.settings(foregroundLimit: 0))
        #expect(world.core.settings.foregroundLimit == 1)
        world.ask(.launch(Self.clock, background: false))
        #expect(world.state("clock") == .active)
    }

    @Test func `app that waits for a foreground slot gets it when the limit rises`() {
        var world = World(apps: "clock", "maps", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.maps] = [.willResignActive]
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .inactive)
        world.give(.configure(Self.settings(foregroundLimit: 2)))
        #expect(world.state("clock") == .active)
    }

    @Test func `former home app is not restarted as home app`() {
        var world = World(apps: "clock", "maps", settings: Self.settings(home: Self.clock))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.clock) }
        #expect(world.core.deadline(.restart, of: Self.clock) != nil)
        world.give(.configure(Self.settings(home: Self.maps)))
        #expect(world.core.deadline(.restart, of: Self.clock) == nil)
    }

    @Test func `pending restart outlives other changes of the manifest`() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.restart = .onFailure
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.clock) }
        #expect(world.core.deadline(.restart, of: Self.clock) != nil)
        policy.timeouts.task = .seconds(1)
        world.give(.define(Self.clock, policy))
        #expect(world.core.deadline(.restart, of: Self.clock) != nil)
    }

    @Test func `suspended app resumes when its manifest forbids suspension`() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        var policy = Policy()
        policy.suspend = .never
        world.give(.define(Self.clock, policy))
        #expect(world.state("clock") == .background)
    }

    /// A daemon that restores a thousand apps, or reads its configuration again, defines them all.
    @Test func `a definition that says nothing new leaves nothing to be kept`() throws {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        var policy = try #require(world.core.knownApps[Self.clock]?.policy)
        _ = world.core.takeChangedApps()
        world.give(.define(Self.clock, policy))
        #expect(world.core.takeChangedApps().isEmpty)
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        #expect(world.core.takeChangedApps() == [Self.clock])
        #expect(world.core.knownApps[Self.clock]?.policy == policy)
    }

    @Test func `app that does not run is forgotten at once, with its pending work`() {
        var world = World(apps: "clock", "maps")
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.clock) }
        #expect(world.core.deadline(.restart, of: Self.clock) != nil)
        world.give(.forget(Self.clock))
        #expect(world.core.knownApps[Self.clock] == nil)
        #expect(world.lines().last == "forgotten clock")
        #expect(world.core.nextDeadline == nil)
        #expect(world.core.returningApps.isEmpty)
    }

    @Test func `fixed limits are the documented ones`() {
        #expect(Engine.interruptionLimit == 64)
        #expect(Outbox.eventLimit == 16)
        #expect(AppMachine.reconnectionTime == .seconds(35))
        #expect(Scenes.limit == 32)
        #expect(SceneText.infoLimit == 4096)
        #expect(ReclaimRecord.orderLimit == 16)
    }

    @Test func `defaults are the documented ones`() {
        #expect(Settings().foregroundLimit == 1 && Settings().suspendedLimit == 0)
        #expect(Policy().assertionLimit == 16 && Policy().sceneLimit == 1)
        #expect(!Policy().isTransient && !Policy().scenes && !Policy().takesURLs)
    }

    @Test func `an app that was never launched has not failed`() {
        let world = World(apps: "clock")
        #expect(world.core.knownApps[Self.clock]?.restart.isLimitReached == false)
    }

    @Test(arguments: [(0, false), (1, true), (64, true), (65, false)])
    func `a scene has a name of 1 to 64 characters`(count: Int, isName: Bool) {
        #expect((SceneID(String(repeating: "x", count: count)) != nil) == isName)
    }
}
