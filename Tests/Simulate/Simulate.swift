import Glibc
import Simulation

/// Runs histories, or explores a small world, and ends with what was found: 0 when every promise was kept.
@main struct Simulate {
    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            fail(
                """
                usage: simulate [--from SEED] [--seeds N] [--inputs N]
                       simulate --replay SEED
                       simulate --explore DEPTH
                """, code: 2)
        }
        if let seed = options.replay { return replay(seed) }
        if let depth = options.explore { return explore(depth) }
        simulate(options)
    }

    /// Runs the histories of one seed after the other.
    private static func simulate(_ options: Options) {
        var (inputs, coverage, seed) = (0, Coverage(), options.from)
        while seed - options.from < options.seeds, inputs < options.inputs {
            let run = Run(Scenario(seed: seed))
            inputs += run.inputs
            coverage.add(run.coverage)
            if !run.problems.isEmpty { failed(seed, run) }
            seed += 1
        }
        print("seeds \(options.from) to \(seed - 1), \(inputs) inputs: every promise was kept")
        let pairs = coverage.pairs
        print("\(pairs.seen) of \(pairs.all) pairs of a state and a kind of input; these never came:")
        for (kind, states) in coverage.missing {
            print("  \(kind): \(states.joined(separator: ", "))")
        }
    }

    private static func failed(_ seed: UInt64, _ run: Run) -> Never {
        print("seed \(seed): \(run.problems[0]), after \(run.steps) steps; the shortest history that fails so:\n")
        print(Shrinking.shrink(run).report)
        fail("\nseed \(seed) fails; \"simulate --replay \(seed)\" shows all of it", code: 1)
    }

    private static func replay(_ seed: UInt64) {
        let run = Run(Scenario(seed: seed), isTold: true)
        print(run.report)
        if !run.problems.isEmpty { exit(1) }
    }

    private static func explore(_ depth: Int) {
        for world in SmallWorld.all {
            var exploration = Exploration(world.setup, commands: world.commands)
            for level in 1...max(1, depth) where !exploration.isExhausted {
                exploration.deepen()
                if let failure = exploration.failure {
                    for line in failure.story { print(line.words) }
                    for problem in failure.problems { print("! \(problem)") }
                    fail("\(world.name): broken at depth \(level)", code: 1)
                }
            }
            print(
                "\(world.name): \(exploration.total) states to a depth of \(exploration.states.count), "
                    + "\(exploration.inputs) inputs, \(exploration.rested) of them seen to come to rest"
                    + (exploration.isExhausted ? "; there are no more" : ""))
        }
    }

    private static func fail(_ text: String, code: Int32) -> Never {
        print(text)
        exit(code)
    }
}

/// What the command line says.
private struct Options {
    var from: UInt64 = 1
    var seeds = UInt64.max
    var inputs = Int.max
    var replay: UInt64?
    var explore: Int?

    init?(_ arguments: some Collection<String>) {
        var rest = Array(arguments)[...]
        while let name = rest.popFirst() {
            guard let number = rest.popFirst().flatMap({ UInt64($0) }) else { return nil }
            switch name {
            case "--from": from = number
            case "--seeds": seeds = number
            case "--inputs": inputs = Int(clamping: number)
            case "--replay": replay = number
            case "--explore": explore = Int(clamping: number)
            default: return nil
            }
        }
        if seeds == .max, inputs == .max { seeds = 1000 }
    }
}
