import Simulation
import Testing

@testable import LifecycleCore

/// What comes between one app that is ended for its memory and the next.
@Suite struct ReclaimRoundTests {
    @Test func `reclaim continues after a restart of the daemon`() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.give(.memory(.veryShort))
        _ = world.lines()
        let core = world.core
        world.core = Engine(
            restoring: core.record, apps: core.records, settings: core.settings, policy: { _ in Policy() },
            at: world.now)
        world.withholding = []
        world.give(.resumeRestored)
        // What was measured was lost with the previous daemon.
        #expect(world.lines().contains("! one reclaimed of [one, two, three] (50 % waited), 0"))
        #expect(world.core.reclaimer.round == nil)
    }

    @Test func reclaimOfAllAppsIsOneForTheNextDaemon() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.ask(.memoryPressure(.critical, all: true))
        world = world.restored()
        world.withholding = []
        world.give(.exited(.signal(9), othersLeft: false), of: AppID("one"))
        #expect(["one", "two", "three"].allSatisfy { world.state($0) == .notRunning })
    }

    @Test func noAppIsEndedForItsMemoryBeforeAllAreRestored() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.ask(.memoryPressure(.critical, all: true))
        world = world.restored {
            $0.give(.exited(.signal(9), othersLeft: false), of: AppID("one"))
            let lines = $0.lines()
            #expect(!lines.contains { $0.hasPrefix("measure") })
        }
        #expect(world.lines().contains("measure two"))
    }

    @Test func reclaimOfScenesIsOneForTheNextDaemon() throws {
        var world = withScenes()
        world.withholding = [.looks]
        world.give(.memory(.veryShort))
        let round = try #require(world.core.round)
        #expect(round.isAboutScenes && round.victimID == AppID("scenic"))
        #expect(world.restored().core.round == round)
        let core = world.core
        let restored = Engine(
            restoring: core.record, apps: core.records, settings: core.settings,
            policy: { _ in Policy() }, at: world.now)
        #expect(restored.round?.victimID == round.victimID && restored.round?.isAboutScenes == true)
        // It was no app: nothing is reported of its memory.
        world = world.restored()
        _ = world.lines()
        world.look(.enough)
        #expect(!world.lines().contains { $0.contains("reclaimed of") })
    }

    @Test func accountOfMoreAppsThanAreKeptIsCutOff() {
        let names = (1...20).map { SavedRecord.Field(name: "reclaim-order", value: "app-\($0)") }
        var reader = SavedCoder(
            reading:
                SavedRecord(fields: [.init(name: "reclaim-cause", value: "simulation")] + names))
        let account = ReclaimRecord.code(nil, with: &reader)
        #expect(account?.order == (1...16).map { AppID("app-\($0)") } && account?.candidates == 16)
    }

    @Test func `a shutdown ends a round`() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.ask(.memoryPressure(.critical, all: true))
        world.give(.shutDown)
        world.give(.exited(.signal(9), othersLeft: false), of: AppID("one"))
        #expect(world.lines().contains("reply 5 reclaimed [one]"))
    }

    @Test func `reclaim does not wait for a victim that is launched before SIGTERM`() {
        let maps = AppID("maps")
        var world = World(apps: "clock", "maps", linked: true)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(maps, policy))
        world.silent[maps] = [.sceneDidDisconnect]
        world.ask(.launch(maps, background: false))
        world.give(.beginTask(1, name: "upload"), from: maps)
        world.ask(.launch(AppID("clock"), background: false))
        world.looks = [.critical]
        let request = world.ask(.memoryPressure(.critical, all: true))
        world.pass(.seconds(1))
        #expect(world.core.round?.victimID == maps)
        world.ask(.launch(maps, background: false))
        #expect(world.core.knownApps[maps]?.reclaimed == nil)
        world.pass(.seconds(30))
        #expect(world.core.reclaimer.round == nil)
        #expect(world.replies[request] != nil)
    }

    @Test(arguments: [false, true])
    func appThatWasSparedIsNotReportedAsReclaimed(isRestored: Bool) {
        let maps = AppID("maps")
        var world = World(apps: "clock", "maps", linked: true)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(maps, policy))
        world.silent[maps] = [.sceneDidDisconnect]
        world.ask(.launch(maps, background: false))
        world.give(.beginTask(1, name: "upload"), from: maps)
        world.ask(.launch(AppID("clock"), background: false))
        world.looks = [.critical]
        world.give(.memory(.veryShort))
        world.pass(.seconds(1))
        #expect(world.core.round?.victimID == maps && world.core.round?.phase == .ending)
        world.withholding = [.looks]
        world.ask(.launch(maps, background: false))
        #expect(world.core.reclaimer.settlingEnd != nil)
        if isRestored { world = world.restored() }
        _ = world.lines()
        world.look(.enough)
        #expect(!world.lines().contains { $0.contains("reclaimed of") })
        #expect(world.core.reclaimer.round == nil)
    }

    @Test func `normal pressure ends the reclaim`() {
        var world = ReclaimTests().world()
        world.withholding = [.killed]
        world.ask(.memoryPressure(.critical, all: true))
        world.ask(.memoryPressure(.normal, all: false))
        world.give(.exited(.signal(9), othersLeft: false), of: AppID("one"))
        #expect(world.lines().last == "reply 5 reclaimed [one]")
    }

    @Test func `a shutdown waits for no look at the memory`() {
        var world = ReclaimTests().world()
        world.withholding = [.looks]
        world.give(.memory(.veryShort))
        world.ask(.memoryPressure(.critical, all: true))
        #expect(world.core.reclaimer.settlingEnd != nil)
        world.give(.shutDown)
        #expect(world.lines().contains("reply 5 reclaimed [one]"))
    }

    @Test func `pending look at memory is repeated after a restart of the daemon`() {
        var world = ReclaimTests().world()
        world.withholding = [.looks]
        world.give(.memory(.veryShort))
        let core = world.core
        world.core = Engine(
            restoring: core.record, apps: core.records, settings: core.settings, policy: { _ in Policy() },
            at: world.now)
        world.withholding = []
        _ = world.lines()
        world.give(.resumeRestored)
        #expect(world.lines().contains("mark memory"))
        #expect(world.core.reclaimer.round == nil)
    }

    @Test func `a simulated warning goes to those that run`() {
        var world = ReclaimTests().world(["one", "front"])
        world.ask(.memoryPressure(.warning, all: false))
        #expect(world.lines() == ["reply 3 reclaimed []", "front ← memory-warning"])
    }

    @Test func `the next daemon waits for the app that is being ended, and for none that is gone`() {
        var world = ReclaimTests().world()
        world.withholding = [.killed, .looks]
        world.give(.memory(.veryShort))
        let core = world.core
        for (records, isEnding) in [(core.records, true), ([], false)] {
            world.core = Engine(
                restoring: core.record, apps: records, settings: core.settings, policy: { _ in Policy() },
                at: world.now)
            world.give(.resumeRestored)
            #expect((world.core.reclaimer.round?.phase == .ending) == isEnding)
            #expect((world.core.reclaimer.settlingEnd != nil) == !isEnding)
        }
    }

    /// The victim was an app without a manifest, and the daemon ended before the memory was checked.
    @Test func `a round is over when the memory was checked after an app that is not known any more`() {
        var world = ReclaimTests().world()
        world.withholding = [.looks]
        world.give(.memory(.veryShort))
        let core = world.core
        #expect(core.reclaimer.settlingEnd != nil)
        world.core = Engine(
            restoring: core.record, apps: core.records.filter { $0["id"] != core.round?.victimID.name },
            settings: core.settings, policy: { _ in Policy() }, at: world.now)
        world.withholding = []
        _ = world.lines()
        world.give(.resumeRestored)
        #expect(
            world.lines().suffix(3) == [
                "mark memory", "read memory", "! one reclaimed of [one, two, three] (50 % waited), 0",
            ])
        #expect(world.core.round == nil)
        // Memory is reclaimed again.
        world.give(.memory(.veryShort))
        #expect(world.core.round == nil && world.lines().contains { $0.hasPrefix("measure") })
    }

    /// An app with two scenes in the background, and one that sleeps behind another.
    func withScenes(_ settings: Settings = Settings()) -> World {
        var world = World(apps: "one", "front", linked: true, settings: settings)
        var policy = Policy()
        policy.scenes = true
        world.linked.insert(AppID("scenic"))
        world.give(.define(AppID("scenic"), policy))
        for name in ["one", "scenic", "front"] { world.ask(.launch(AppID(name), background: false)) }
        _ = world.lines()
        return world
    }

    @Test func `reclaim ends apps after it has taken scenes, and the reply names them`() {
        var world = withScenes()
        world.looks = [.critical, .critical]
        world.give(.memory(.veryShort))
        let lines = world.lines().filter { $0.hasPrefix("!") && !$0.contains("exited") || $0 == "read memory" }
        #expect(
            lines == [
                "! scenic gives back [main]", "read memory",
                "read memory", "! one reclaimed of [one, scenic] (40 % waited), 4096",
                "read memory", "! scenic reclaimed of [scenic] (40 % waited), 4096",
            ])
    }

    @Test func `scenes that go in the background while an app is being ended are next`() {
        var world = World(apps: "one", linked: true)
        var policy = Policy()
        policy.scenes = true
        world.linked.insert(AppID("scenic"))
        world.give(.define(AppID("scenic"), policy))
        for name in ["one", "scenic"] { world.ask(.launch(AppID(name), background: false)) }
        world.withholding = [.killed]
        let all = world.ask(.memoryPressure(.critical, all: true))
        world.ask(.home)
        _ = world.lines()
        world.give(.exited(.signal(9), othersLeft: false), of: AppID("one"))
        let lines = world.lines().filter { $0.hasPrefix("! scenic") || $0.hasPrefix("measure") }
        #expect(lines == ["! scenic gives back [main]", "measure scenic"])
        #expect(world.replies[all] == nil)
        world.give(.exited(.signal(9), othersLeft: false), of: AppID("scenic"))
        #expect(world.replies[all] == .reclaimed([AppID("one"), AppID("scenic")]))
    }

    @Test func `scenes of an app that runs are disconnected at once`() {
        var world = World(linked: true)
        let scenic = AppID("scenic")
        var policy = Policy()
        policy.scenes = true
        world.linked.insert(scenic)
        world.give(.define(scenic, policy))
        world.ask(.launch(scenic, background: false))
        world.give(.beginTask(1, name: "save"), from: scenic)
        world.ask(.home)
        _ = world.lines()
        world.give(.memory(.veryShort))
        #expect(world.lines().contains("scenic ← scene-did-disconnect main (reclaimed)"))
    }

    @Test func `scenes of an app that has been warned already are disconnected at once as well`() {
        var world = SceneFixture.withTwoScenes()
        world.give(.memory(.short))
        world.give(.memory(.veryShort))
        #expect(world.scenes("clock") == ["main": .unattached, "scene-2": .foregroundActive])
    }

    @Test func `limit of suspended apps takes no scenes and no running app`() {
        var settings = Settings()
        settings.suspendedLimit = 1
        let world = withScenes(settings)
        #expect(world.core.knownApps[AppID("one")]?.lastExit?.reason == .reclaimed)
        #expect(world.scenes("scenic") == ["main": .suspended])
    }

    @Test func `app that was never in the foreground is reclaimed first, a running app last`() {
        var world = World(apps: "tool", "one", "never", "front", linked: true)
        for name in ["one", "tool"] { world.ask(.launch(AppID(name), background: false)) }
        world.give(.beginTask(1, name: "upload"), from: AppID("tool"))
        world.pass(.seconds(1))
        world.ask(.focus(AppID("one")))
        world.pass(.seconds(1))
        world.ask(.launch(AppID("never"), background: true))
        world.ask(.focus(AppID("one")))
        world.ask(.launch(AppID("front"), background: false))
        #expect(world.core.reclaimableApps(suspendedOnly: false) == [AppID("never"), AppID("one"), AppID("tool")])
        #expect(world.core.reclaimableApps(suspendedOnly: true) == [AppID("never"), AppID("one")])
    }

    @Test func `an app that is being continued for a task is not ended`() {
        var world = ReclaimTests().world(["one", "front"])
        world.withholding = [.resumed]
        world.ask(.deliver(AppID("one"), .performTask(kind: "fetch")))
        #expect(world.core.knownApps[AppID("one")]?.target == .suspended)
        #expect(world.core.reclaimableApps(suspendedOnly: false) == [])
    }

    static let causes: [ReclaimRecord.Cause] = [.pressure(.veryShort), .simulation, .suspendedLimit(7)]

    @Test(arguments: causes)
    func `why an app was ended is known to the next daemon`(cause: ReclaimRecord.Cause) {
        let order = (1...20).map { AppID("app-\($0)") }
        var account = ReclaimRecord(cause: cause, order: order)
        account.freed = 4096
        #expect(account.order == Array(order.prefix(16)) && account.candidates == 20)
        var writer = SavedCoder()
        _ = ReclaimRecord.code(account, with: &writer)
        var reader = SavedCoder(reading: writer.record)
        #expect(ReclaimRecord.code(nil, with: &reader) == account)
    }
}
