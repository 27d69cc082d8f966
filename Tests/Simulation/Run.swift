package import LifecycleCore

/// One history from its beginning to its end.
package struct Run: Sendable {
    package let scenario: Scenario
    package let problems: [String]
    package let inputs: Int
    package let coverage: Coverage
    /// The number of steps were taken until the problem showed.
    package let steps: Int
    package let story: [Happening]

    package init(
        _ scenario: Scenario, isTold: Bool = false, inspect: (@Sendable (Engine, Instant) -> String?)? = nil
    ) {
        var machine = Machine(scenario.setup, chance: Chance(seed: 1), isTold: isTold)
        machine.inspect = inspect
        var count = 0
        for step in scenario.steps where machine.problems.isEmpty {
            machine.handle(step)
            count += 1
        }
        if machine.problems.isEmpty { machine.expectRest(Chance(seed: 2)) }
        self.scenario = scenario
        problems = machine.problems
        inputs = machine.inputs
        coverage = machine.coverage
        steps = count
        story = machine.story
    }
}
