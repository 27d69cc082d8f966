import LifecycleCore
import TestSupport

/// The random choices: by one seed, or not at all, where every possibility is tried in turn instead.
package struct Chance: Sendable {
    private var generator: SeededGenerator?

    /// Chance that always falls the same way for a seed; nil: nothing unlikely happens, and everything at once.
    package init(seed: UInt64?) {
        generator = seed.map { SeededGenerator(seed: $0) }
    }

    /// A Boolean value that indicates whether chance has a say at all.
    package var isBlind: Bool { generator == nil }

    package mutating func number(below limit: Int) -> Int {
        guard limit > 1, let next = generator?.next() else { return 0 }
        return Int(truncatingIfNeeded: (next >> 33) % UInt64(limit))
    }

    package mutating func happens(_ percent: Int) -> Bool {
        generator != nil && number(below: 100) < percent
    }

    package mutating func seed() -> UInt64 { generator?.next() ?? 0 }

    /// A time of at most so many milliseconds.
    package mutating func time(upTo milliseconds: Int) -> Duration {
        .microseconds(Int64(number(below: milliseconds * 1000 + 1)))
    }

    package mutating func pick<Element>(_ choices: [Element]) -> Element { choices[number(below: choices.count)] }
}
