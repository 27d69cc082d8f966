import Testing

@testable import LifecycleCore

/// Requests that wait for the answers of an app that did not answer that it becomes active.
@Suite struct OverdueActivationTests {
    static let clock = AppID("clock")

    private func suspended(silent: Callback) -> World {
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(Self.clock, background: true))
        world.pass(.seconds(60))
        world.silent[Self.clock] = [silent]
        return world
    }

    @Test(arguments: [(true, "refused unanswered"), (false, "done")])
    func requestForTheAnswersIsRefusedAndAnotherIsNot(untilAnswered: Bool, reply: String) {
        var world = suspended(silent: .didBecomeActive)
        let focus = world.ask(.focus(Self.clock, untilAnswered: untilAnswered))
        world.pass(.seconds(5))
        #expect(world.state("clock") == .active)
        #expect(world.replies[focus]?.name == reply)
    }

    @Test func appWithoutItsChannelIsNotAskedForTheAnswerAnyMore() {
        var world = suspended(silent: .didBecomeActive)
        world.ask(.focus(Self.clock))
        world.pass(.seconds(5))
        let before = world.ask(.focus(Self.clock, untilAnswered: true))
        #expect(world.replies[before]?.name == "refused unanswered")
        world.give(.closed, from: Self.clock)
        world.pass(.seconds(1))
        let after = world.ask(.focus(Self.clock, untilAnswered: true))
        #expect(world.replies[after]?.name == "done")
    }

    /// Another scene keeps the app active meanwhile.
    @Test func answerOfASceneThatBecomesActiveLaterCounts() throws {
        var world = SceneFixture.withTwoScenes(limit: 2)
        let scene = try #require(SceneFixture.main)
        world.ask(.backgroundScene(Self.clock, scene))
        world.silent[Self.clock] = [.sceneDidBecomeActive]
        world.ask(.focusScene(Self.clock, scene))
        world.pass(.seconds(5))
        let before = world.ask(.focus(Self.clock, untilAnswered: true))
        world.silent[Self.clock] = []
        world.ask(.backgroundScene(Self.clock, scene))
        let between = world.ask(.focus(Self.clock, untilAnswered: true))
        world.ask(.focusScene(Self.clock, scene))
        let after = world.ask(.focus(Self.clock, untilAnswered: true))
        let replies = [before, between, after].map { world.replies[$0]?.name }
        #expect(replies == ["refused unanswered", "refused unanswered", "done"])
        #expect(world.state("clock") == .active)
    }
}
