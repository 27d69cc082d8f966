import LifecycleCore
import Testing

/// An app that fails because of the state that it restores is launched without it.
@Suite struct RestoreFailureTests {
    static let clock = AppID("clock")
    static let crash = Outcome.exited(.signal(11), othersLeft: false)

    /// An app that has crashed long after its launch, and is launched again.
    private func restoring(_ policy: Policy = Policy()) -> World {
        var world = World(apps: "clock")
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(60))
        world.give(Self.crash, of: Self.clock)
        world.ask(.launch(Self.clock, background: false))
        #expect(launch(world)?.restores == true)
        return world
    }

    /// What the app is told at its next launch, or was told at this one.
    private func launch(_ world: World) -> Launch? { world.core.launch(of: Self.clock) }

    @Test func launchAfterACrashSoonAfterARestoringLaunchDoesNotRestore() {
        var world = restoring()
        world.pass(.seconds(20))
        world.give(Self.crash, of: Self.clock)
        #expect(launch(world)?.restores == false)
        #expect(launch(world)?.previous?.restoreFailure == .restoring)
        #expect(world.decisions.contains { $0 == .exited(Self.clock, launch(world)!.previous!) })
    }

    @Test func launchAfterALaterCrashRestores() {
        var world = restoring()
        world.pass(.seconds(20) + .microseconds(1))
        world.give(Self.crash, of: Self.clock)
        #expect(launch(world)?.restores == true)
        #expect(launch(world)?.previous?.restoreFailure == nil)
    }

    @Test func crashSoonAfterALaunchThatDidNotRestoreIsRestored() {
        var world = World(apps: "clock")
        world.ask(.launch(Self.clock, background: false))
        world.give(Self.crash, of: Self.clock)
        #expect(launch(world)?.restores == true)
    }

    @Test func appThatDoesNotAnswerItsRestoringLaunchIsLaunchedWithoutItsState() {
        var policy = Policy()
        policy.callbacks = .required
        var world = World(apps: "clock", linked: true)
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(60))
        world.give(Self.crash, of: Self.clock)
        world.silent[Self.clock] = [.willFinishLaunching]
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(30))
        #expect(launch(world)?.previous?.reason == .launchTimeout)
        #expect(launch(world)?.restores == false)
    }

    @Test(arguments: [Request.terminate(clock), .kill(clock)])
    func endByTheUserSoonAfterARestoringLaunchIsNoFailure(request: Request) {
        var world = restoring()
        world.ask(request)
        #expect(launch(world)?.previous?.restoreFailure == nil)
    }

    @Test func crashWhoseHelpersEndLaterCountsFromItsBegin() {
        var world = restoring()
        world.pass(.seconds(19))
        world.stubborn = [Self.clock]
        world.withholding = [.killed]
        world.give(.exited(.signal(11), othersLeft: true), of: Self.clock)
        world.pass(.seconds(10))
        world.give(.gone, of: Self.clock)
        #expect(launch(world)?.previous?.restoreFailure == .restoring)
    }

    @Test func stateStaysAsideUntilALaunchLasts() {
        var world = restoring()
        for _ in 0..<3 {
            world.give(Self.crash, of: Self.clock)
            world.ask(.launch(Self.clock, background: false))
            #expect(launch(world)?.restores == false)
        }
        #expect(launch(world)?.previous?.restoreFailure == .setAside)
        world.pass(.seconds(60))
        world.give(Self.crash, of: Self.clock)
        #expect(launch(world)?.restores == true)
    }

    @Test func failureIsKnownAfterARestartOfTheDaemon() {
        var world = restoring()
        world = world.restored()
        world.give(Self.crash, of: Self.clock)
        world = world.restored()
        #expect(launch(world)?.restores == false)
        #expect(launch(world)?.previous?.restoreFailure == .restoring)
    }

    @Test func restartPolicyLaunchesWithoutTheState() {
        var policy = Policy()
        policy.restart = .always
        var world = World(apps: "clock", linked: true)
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.pass(.seconds(60))
        for restores in [true, false, false] {
            world.give(Self.crash, of: Self.clock)
            world.pass(.seconds(5))
            #expect(world.told[Self.clock]?.last { $0.launch != nil }?.launch?.restores == restores)
        }
    }

    // MARK: Scenes

    private static let main = SceneID(ordinal: 1)

    private func restoringScene() -> World {
        var policy = Policy()
        policy.scenes = true
        var world = World(apps: "clock", linked: true)
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.give(.sceneInfo(Self.main, "page 7"), from: Self.clock)
        world.pass(.seconds(60))
        world.give(Self.crash, of: Self.clock)
        world.ask(.launch(Self.clock, background: false))
        #expect(world.lines().contains("clock ← scene-will-connect main (restoration)"))
        return world
    }

    @Test func sceneOfAFailedRestorationIsSetAsideAndANewOneShown() {
        var world = restoringScene()
        world.give(Self.crash, of: Self.clock)
        world.ask(.launch(Self.clock, background: false))
        #expect(world.lines().contains("clock ← scene-will-connect scene-2 (user)"))
        #expect(world.scenes("clock") == ["main": .unattached, "scene-2": .foregroundActive])
        #expect(world.scene(Self.main)?.info == "page 7")
    }

    @Test func sceneThatIsSetAsideIsShownByRequest() {
        var world = restoringScene()
        world.give(Self.crash, of: Self.clock)
        world.ask(.launch(Self.clock, background: false))
        world.ask(.focusScene(Self.clock, Self.main))
        #expect(world.lines().contains("clock ← scene-will-connect main (restoration)"))
        #expect(world.scene(Self.main)?.state == .foregroundActive)
    }

    @Test func sceneThatIsSetAsideOutlivesFailuresAndEnds() {
        var world = restoringScene()
        for _ in 0..<40 {
            world.give(Self.crash, of: Self.clock)
            world.ask(.launch(Self.clock, background: false))
        }
        #expect(world.scenes("clock") == ["main": .unattached, "scene-2": .foregroundActive])
        world.ask(.terminate(Self.clock))
        world.ask(.launch(Self.clock, background: false))
        #expect(world.scenes("clock") == ["main": .unattached, "scene-2": .foregroundActive])
        #expect(world.scene(Self.main)?.info == "page 7")
    }

    @Test func sceneThatIsSetAsideGivesWayToANewOne() {
        var world = restoringScene()
        world.give(Self.crash, of: Self.clock)
        world.ask(.launch(Self.clock, background: false))
        for _ in 0..<30 { world.ask(.openScene(Self.clock, SceneOpening(), background: true)) }
        #expect(world.scenes("clock").count == Scenes.limit && world.scene(Self.main) != nil)
        world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        #expect(world.scenes("clock").count == Scenes.limit && world.scene(Self.main)?.info == nil)
    }
}
