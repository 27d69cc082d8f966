import Testing

@testable import LifecycleCore

/// What memory pressure does to apps, as the core plays it.
@Suite struct ReclaimTests {
    static let names = ["one", "two", "three", "four"]

    /// Apps that were in the foreground one after the other; the last of them still is.
    func world(_ names: [String] = names, linked: Bool = true, settings: Settings = Settings()) -> World {
        var world = World(settings: settings)
        for name in names {
            let id = AppID(name)
            if linked { world.linked.insert(id) }
            world.give(.define(id, Policy(timeouts: settings.timeouts)))
            world.ask(.launch(id, background: false))
            world.pass(.seconds(20))
        }
        _ = world.lines()
        return world
    }

    @Test func `reclaimed app keeps the cause, and is restored`() {
        var world = world(["one", "front"])
        world.give(.memory(.veryShort))
        _ = world.lines()
        let app = world.core.knownApps[AppID("one")]
        #expect(app?.reclaimed?.cause == .pressure(.veryShort))
        #expect(app?.reclaimed?.freed == 4096)
        #expect(app?.lastExit?.state == .suspended)
        #expect(app?.lastExit?.reason.callsForRestoration == true)
        world.ask(.launch(AppID("one"), background: false))
        world.ask(.terminate(AppID("one")))
        #expect(world.core.knownApps[AppID("one")]?.reclaimed == nil)
    }

    @Test func appThatIsLaunchedAgainBeforeTheNextLookHasFreedItsMemory() {
        var world = world(["one", "front"])
        world.withholding = [.looks]
        world.give(.memory(.veryShort))
        world.ask(.launch(AppID("one"), background: false))
        world.look(.enough)
        #expect(world.lines().contains("! one reclaimed of [one] (50 % waited), 4096"))
    }

    @Test func appThatIsForgottenWithItsEndIsReported() {
        var world = world(["one", "front"])
        world.give(.define(AppID("one"), Policy(isTransient: true)))
        world.withholding = [.looks]
        world.give(.memory(.veryShort))
        #expect(world.core.knownApps[AppID("one")] == nil)
        world.look(.enough)
        #expect(world.lines().contains { $0.contains("one reclaimed of [one]") })
    }

    @Test func `a limit of suspended apps`() {
        var settings = Settings()
        settings.suspendedLimit = 2
        var world = world(Self.names, settings: settings)
        #expect(world.core.shared.suspendedCount == 2)
        world.ask(.home)
        #expect(world.lines().suffix(8).contains("! two reclaimed of [two, three, four] (limit 2), 4096"))
        #expect(world.core.knownApps[AppID("one")]?.reclaimed?.cause == .suspendedLimit(2))
        settings.suspendedLimit = 0
        world.give(.configure(settings))
        settings.suspendedLimit = 1
        world.give(.configure(settings))
        #expect(world.core.shared.suspendedCount == 1)
        #expect(world.state("four") == .suspended)
    }

    /// Some of them may have ended while no daemon was there.
    @Test func lowerLimitEndsNoAppBeforeAllAreRestored() {
        var settings = Settings()
        settings.suspendedLimit = 1
        var world = world(Self.names)
        #expect(world.core.shared.suspendedCount == 3)
        world = world.restored { world in
            world.give(.configure(settings))
            world.give(.exited(.code(0), othersLeft: false), of: AppID("one"))
            #expect(!world.lines().contains { $0.hasPrefix("kill") })
        }
        #expect(world.core.shared.suspendedCount == 1)
    }

    @Test func `app that becomes the home app with a new limit is not reclaimed for it`() {
        var world = World(apps: "one", "two", linked: true)
        for name in ["one", "two"] { world.ask(.launch(AppID(name), background: false)) }
        world.ask(.home)
        #expect(world.state("one") == .suspended && world.state("two") == .suspended)
        var settings = Settings()
        settings.homeApp = AppID("one")
        settings.suspendedLimit = 1
        world.give(.configure(settings))
        #expect(world.state("one") == .active && world.state("two") == .suspended)
    }

    @Test func appThatIsSuspendedByRequestWasNotInTheForegroundForThat() {
        var world = World(apps: "one", linked: true)
        world.ask(.launch(AppID("one"), background: true))
        world.give(.beginTask(1, name: "upload"), from: AppID("one"))
        world.pass(.seconds(1))
        world.ask(.suspend(AppID("one")))
        #expect(world.core.knownApps[AppID("one")]?.lastInForeground == nil)
    }
}
