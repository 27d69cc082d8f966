import Simulation
import Testing

@testable import LifecycleCore

/// What a daemon does with the records of another one, before anything else happens.
@Suite struct RestorationTests {
    static let clock = AppID("clock")
    static let maps = AppID("maps")

    func running(_ names: String..., linked: Bool = false, settings: Settings = Settings()) -> World {
        var world = World(apps: "clock", "maps", linked: linked, settings: settings)
        for name in names { world.ask(.launch(AppID(name), background: false)) }
        return world
    }

    static func restored(_ world: World, _ settings: Settings, policy: (AppID) -> Policy?) -> World {
        var next = world
        let records = world.core.knownApps.keys.sorted().compactMap { world.core.record(of: $0) }
        next.core = Engine(
            restoring: world.core.record, apps: records, settings: settings, policy: policy, at: world.now)
        _ = next.lines()
        return next
    }

    @Test(arguments: [false, true])
    func `pending start and pending end are repeated after a restart of the daemon`(isKilled: Bool) {
        var world = running()
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        if isKilled { world.ask(.kill(Self.clock)) }
        world = world.restored()
        #expect(world.lines() == (isKilled ? ["spawn clock", "kill clock"] : ["spawn clock"]))
    }

    @Test func `suspended app is stopped again after a restart of the daemon`() {
        var world = running("clock")
        world.ask(.suspend(Self.clock))
        world.withholding = [.stopped]
        world = world.restored()
        #expect(world.lines() == ["stop clock"])
        let suspend = world.ask(.suspend(Self.clock))
        #expect(world.replies[suspend] == nil)
        world.give(.stopped, of: Self.clock)
        #expect(world.replies[suspend]?.doneApp == Self.clock)
    }

    @Test func recordsThatDisagreeAreMended() throws {
        let running = running("clock")
        var ended = running
        ended.ask(.terminate(Self.clock))
        func restored(_ machine: World, _ app: World) throws -> Engine {
            let record = try #require(app.core.record(of: Self.clock))
            return Engine(
                restoring: machine.core.record, apps: [record], settings: Settings(), policy: { _ in Policy() },
                at: running.now)
        }
        #expect(try restored(running, ended).foreground.isEmpty)
        let active = try restored(ended, running)
        #expect(active.shared.activation.slots.map { active.id(of: $0) } == [Self.clock])
    }

    @Test func appThatWasToRestartAndHasNoProcessCanBeLaunched() throws {
        var world = running("clock")
        world.ask(.terminate(Self.clock))
        var record = try #require(world.core.record(of: Self.clock))
        let others = record.fields.filter { $0.name != "wish" }
        record = SavedRecord(fields: others + [.init(name: "wish", value: "restart")])
        world.core = Engine(
            restoring: world.core.record, apps: [record], settings: Settings(), policy: { _ in Policy() }, at: world.now
        )
        world.give(.resumeRestored)
        let launch = world.ask(.launch(Self.clock, background: false))
        #expect(world.replies[launch]?.doneApp == Self.clock)
    }

    @Test func appWithoutAManifestThatHasEndedIsForgottenAfterARestartOfTheDaemon() {
        var world = running("clock", "maps")
        for id in [Self.clock, Self.maps] { world.ask(.terminate(id)) }
        world = Self.restored(world, Settings()) { $0 == Self.clock ? nil : Policy() }
        world.give(.resumeRestored)
        #expect(world.lines() == ["forgotten clock"])
        #expect(Array(world.core.knownApps.keys) == [Self.maps])
    }

    @Test func restoredSuspendedAppsCountForTheirLimit() {
        var world = World(apps: "clock", "maps")
        for id in [Self.clock, Self.maps] { world.ask(.launch(id, background: true)) }
        world.pass(.seconds(60))
        #expect(world.state("clock") == .suspended && world.state("maps") == .suspended)
        world = world.restored()
        var settings = Settings()
        settings.suspendedLimit = 1
        world.give(.configure(settings))
        #expect([world.state("clock"), world.state("maps")].count { $0 == .suspended } == 1)
    }

    @Test func `a manifest that has changed counts at once`() {
        var world = running("clock")
        world.ask(.suspend(Self.clock))
        var policy = Policy()
        policy.suspend = .never
        world = world.restored(policy)
        #expect(world.state("clock") == .background)
    }

    @Test func `app whose launch callbacks were not required need not answer them after a restart of the daemon`() {
        var world = running("clock", "maps")
        var policy = Policy()
        policy.callbacks = .required
        world = world.restored(policy)
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .active)
    }

    @Test func `there may be fewer places by then`() {
        var settings = Settings()
        settings.foregroundLimit = 2
        let before = running("maps", "clock", settings: settings)
        #expect(before.core.foreground.count == 2)
        var world = Self.restored(before, Settings()) { _ in Policy() }
        #expect(world.core.foreground == [Self.clock])
        world.give(.resumeRestored)
        world.give(.start)
        #expect(world.state("clock") == .active && world.state("maps") == .background)
    }

    @Test func `restored app without a manifest is forgotten when it ends`() {
        var world = Self.restored(running("clock"), Settings()) { _ in nil }
        world.give(.resumeRestored)
        world.ask(.terminate(Self.clock))
        #expect(world.core.knownApps[Self.clock] == nil)
    }

    @Test func `app without a process has no foreground slot`() {
        var world = running()
        var machine = SavedRecord()
        machine.add("place", "ghost")
        world.core = Engine(
            restoring: machine, apps: [SavedRecord](), settings: Settings(), policy: { _ in Policy() }, at: world.now)
        world.give(.define(Self.clock, Policy()))
        world.ask(.launch(Self.clock, background: false))
        #expect(world.state("clock") == .active)
    }

    @Test func `memory warning is not repeated after a restart of the daemon`() {
        var world = running("clock", linked: true)
        world.give(.memory(.short))
        world.pass(.seconds(9))
        world = world.restored()
        world.give(.reconnected(lastSequence: world.sequence(of: Self.clock)), from: Self.clock)
        world.give(.memory(.short))
        #expect(!world.lines().contains("clock ← memory-warning"))
        world.pass(.seconds(1))
        world.give(.memory(.short))
        #expect(world.lines().contains("clock ← memory-warning"))
    }

    @Test func `deadline of a restored app is deferred until its messages are read`() {
        var world = running("maps", "clock", linked: true)
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.focus(Self.maps))
        world.now = world.now + .seconds(10)
        world = world.restored()
        world.pass(.milliseconds(249))
        #expect(world.state("clock") == .active)
        world.pass(.milliseconds(1))
        #expect(world.state("clock") != .active)
    }
}
