import Glibc
import Simulation
import Testing

/// Random histories of the whole machine against its promises: the first seeds of `make simulate`.
@Suite struct SimulationTests {
    /// The number of histories. `LIFED_SEEDS` replaces it.
    static let seeds = unsafe getenv("LIFED_SEEDS").flatMap { unsafe UInt64(String(cString: $0)) } ?? 50

    @Test(arguments: 0..<4)
    func `random histories keep every promise`(remainder: UInt64) {
        for seed in UInt64(1)...Self.seeds where seed % 4 == remainder {
            let run = Run(Scenario(seed: seed))
            guard run.problems.isEmpty else {
                Issue.record("seed \(seed): \(run.problems)\n\(Run(run.scenario, isTold: true).report)")
                return
            }
        }
    }

    @Test func `small worlds keep every promise in every order of events`() {
        for world in SmallWorld.all {
            var exploration = Exploration(world.setup, commands: world.commands)
            for _ in 1...2 { exploration.deepen() }
            #expect(exploration.failure == nil, "\(world.name): \(exploration.failure?.problems ?? [])")
        }
    }
}
