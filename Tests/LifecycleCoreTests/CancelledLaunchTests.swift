import Testing

@testable import LifecycleCore

/// Launches that end before the program runs: what they were for is not for the next launch.
@Suite struct CancelledLaunchTests {
    static let clock = AppID("clock")

    /// The app is killed while its program is started, launched again, and the first program ends.
    private func killAndLaunchAgain(_ world: inout World) {
        world.ask(.kill(Self.clock))
        world.ask(.launch(Self.clock, background: true))
        world.withholding = []
        world.give(.spawned, of: Self.clock)
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
    }

    @Test func nextLaunchDoesNotGetTheWork() {
        var world = World(apps: "clock", linked: true)
        world.withholding = [.spawned, .killed]
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        killAndLaunchAgain(&world)
        let lines = world.lines()
        #expect(lines.contains("! clock perform-task lost"))
        #expect(lines.filter { $0 == "spawn clock" }.count == 2)
        #expect(!lines.contains("clock ← perform-task"))
    }

    @Test func nextLaunchDoesNotGetTheTimeForTheWork() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.callbacks = .none
        world.give(.define(Self.clock, policy))
        world.withholding = [.spawned, .killed]
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        killAndLaunchAgain(&world)
        #expect(world.state("clock") == .background || world.state("clock") == .suspended)
        world.pass(.seconds(10))
        #expect(world.state("clock") == .suspended)
    }

    @Test func scenesThatItWasToShowAreForgotten() {
        var world = SceneFixture.withTwoScenes()
        world.pass(.seconds(1))
        world.ask(.home)
        world.give(.memory(.veryShort))
        #expect(world.scenes("clock").count == 2)
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: false))
        world.ask(.kill(Self.clock))
        #expect(world.scenes("clock") == [:])
        world.give(.spawned, of: Self.clock)
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
        #expect(world.scenes("clock") == [:])
    }

    @Test func scenesOfAnAppThatCrashedAreForgottenWithItsKill() {
        var world = SceneFixture.withTwoScenes()
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(world.scenes("clock").count == 2)
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: true))
        world.ask(.kill(Self.clock))
        world.give(.spawned, of: Self.clock)
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
        #expect(world.scenes("clock") == [:])
    }

    @Test func appThatWasKilledByThenHasNoDeadlineButThatOfItsEnd() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.callbacks = .required
        world.give(.define(Self.clock, policy))
        world.withholding = [.spawned, .killed]
        world.ask(.launch(Self.clock, background: true))
        world.ask(.kill(Self.clock))
        world.give(.spawned, of: Self.clock)
        #expect(world.state("clock") == .terminating)
        #expect(DeadlineKind.allCases.filter { world.core.deadline($0, of: Self.clock) != nil } == [.killed])
    }

    @Test func workOfAProgramThatCannotBeStartedIsLost() {
        var world = World(apps: "clock", linked: true)
        world.broken = [Self.clock]
        world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        world.broken = []
        world.ask(.launch(Self.clock, background: true))
        let lines = world.lines()
        #expect(lines.contains("! clock perform-task lost"))
        #expect(!lines.contains("clock ← perform-task"))
    }

    @Test func workForALaunchThatARequestCancelsIsLost() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.stubborn = [Self.clock]
        world.ask(.terminate(Self.clock))
        let wake = world.ask(.wake(Self.clock, kind: "fetch", payload: ""))
        world.ask(.terminate(Self.clock))
        #expect(world.replies[wake] != nil)
        world.give(.exited(.signal(15), othersLeft: false), of: Self.clock)
        #expect(!world.lines().contains("clock ← perform-task"))
        #expect(world.state("clock") == .notRunning)
    }

    @Test func nextLaunchIsNotToldWhatTheFormerOneWasToBe() {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.willResignActive]
        world.ask(.home)
        world.give(.memory(.short))
        world.withholding = [.killed]
        world.ask(.kill(Self.clock))
        #expect(world.core.knownApps[Self.clock]?.outbox.callbacks.isEmpty == true)
        _ = world.lines()
        world.give(.exited(.signal(9), othersLeft: false), of: Self.clock)
        world.ask(.launch(Self.clock, background: true))
        #expect(!world.lines().contains("clock ← memory-warning"))
    }
}
