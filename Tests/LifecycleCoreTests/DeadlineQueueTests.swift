import Testing

@testable import LifecycleCore

/// The heap of all deadlines against the table that it follows.
@Suite struct DeadlineQueueTests {
    static let clock = AppIndex(value: 0)
    static let maps = AppIndex(value: 7)

    static func time(_ microseconds: UInt64) -> Instant { Instant(microseconds: microseconds) }

    @Test func deadlineThatIsClearedOrReplacedDoesNotComeUp() {
        var deadlines = DeadlineQueue()
        deadlines.clear(.answer, Self.clock)
        deadlines.set(.answer, Self.clock, at: Self.time(1))
        deadlines.set(.tasks, Self.maps, at: Self.time(2))
        deadlines.set(.answer, Self.clock, at: Self.time(3))
        #expect(deadlines[.answer, Self.clock] == Self.time(3) && deadlines[.answer, Self.maps] == nil)
        #expect(deadlines.earliest == Self.time(2))
        deadlines.clear(.tasks, Self.maps)
        #expect(deadlines.popDue(Self.time(2)) == nil)
        let due = deadlines.popDue(Self.time(3))
        #expect(due?.app == Self.clock && due?.kind == .answer)
        #expect(deadlines[.answer, Self.clock] == nil && deadlines.earliest == nil)
        #expect(deadlines.popDue(Self.time(9)) == nil)
    }

    @Test func deadlinesOfOneInstantComeInTheOrderInWhichTheyWereSet() {
        var deadlines = DeadlineQueue()
        deadlines.set(.tasks, Self.maps, at: Self.time(5))
        deadlines.set(.answer, Self.clock, at: Self.time(5))
        deadlines.set(.background, Self.maps, at: Self.time(4))
        deadlines.set(.tasks, Self.maps, at: Self.time(5))
        var kinds: [DeadlineKind] = []
        while let due = deadlines.popDue(Self.time(5)) { kinds.append(due.kind) }
        #expect(kinds == [.background, .answer, .tasks])
    }

    @Test func eachKindHasADeadlineOfItsOwn() {
        var deadlines = DeadlineQueue()
        for app in [Self.clock, Self.maps] {
            for (number, kind) in DeadlineKind.allCases.enumerated() {
                deadlines.set(kind, app, at: Self.time(UInt64(app.value * 100 + number)))
            }
        }
        for (number, kind) in DeadlineKind.allCases.enumerated() {
            #expect(deadlines[kind, Self.clock] == Self.time(UInt64(number)))
            #expect(deadlines[kind, Self.maps] == Self.time(UInt64(700 + number)))
        }
        deadlines.clearAll(Self.clock)
        #expect(DeadlineKind.allCases.allSatisfy { deadlines[$0, Self.clock] == nil })
        #expect(deadlines.earliest == Self.time(700))
    }

    @Test func `deadlines that were set again and again do not pile up`() {
        var deadlines = DeadlineQueue()
        for number in 0..<10_000 { deadlines.set(.answer, Self.clock, at: Self.time(UInt64(1 + number % 7))) }
        deadlines.set(.answer, Self.clock, at: Self.time(9))
        for number in 0..<10_000 {
            deadlines.set(.tasks, Self.clock, at: Self.time(UInt64(100 + number % 7)))
            deadlines.clear(.tasks, Self.clock)
        }
        #expect(deadlines.entryCount < 100)
        #expect(deadlines.earliest == Self.time(9))
    }
}
