import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct BatchQueueTests {
    private let events: Events
    private var work: BatchQueue

    init() throws {
        events = try Events()
        work = BatchQueue(next: try events.later(.stopsDue))
    }

    /// Dispatches the events that are there, and returns the apps that are taken.
    private mutating func dispatch() throws -> [Int] {
        var done: [Int] = []
        try events.loop.dispatchReady {
            events.handle { _ in while let app = work.take() { done.append(app.value) } }
        }
        return done
    }

    @Test mutating func otherEventsAreHandledBetweenBatches() throws {
        var rounds = 0
        var other: LaterSource?
        other = try events.loop.later {
            rounds += 1
            if rounds < 100 { other?.schedule() }
        }
        other?.schedule()
        for item in 0..<1000 { work.append(AppIndex(value: item)) }
        work.begin()
        var roundsBefore: [Int] = []
        var done: [Int] = []
        try events.loop.dispatchReady {
            events.handle { _ in
                roundsBefore.append(rounds)
                while let app = work.take() { done.append(app.value) }
            }
        }
        #expect(done == Array(0..<1000))
        #expect(Set(roundsBefore).count > 10)
    }

    @Test mutating func removedItemIsNotDoneUnlessItIsAppendedAgain() throws {
        work.begin()
        for item in [1, 2, 2, 3, 1] { work.append(AppIndex(value: item)) }
        work.remove(AppIndex(value: 1))
        work.remove(AppIndex(value: 3))
        work.append(AppIndex(value: 3))
        work.append(AppIndex(value: 4))
        #expect(try dispatch() == [2, 3, 4])
    }

    @Test mutating func workWaitsUntilItIsBegun() throws {
        for item in 0..<3 { work.append(AppIndex(value: item)) }
        work.remove(AppIndex(value: 1))
        #expect(try dispatch() == [])
        work.begin()
        #expect(try dispatch() == [0, 2])
        work.append(AppIndex(value: 3))
        #expect(try dispatch() == [3])
    }

    @Test mutating func workAfterPauseBeginsBehindAllThatIsReadyAndTakesItemsOfThePause() throws {
        let began = events.loop.freshNow
        work = BatchQueue(first: try events.idle(.sharesDue), next: try events.later(.sharesDue))
        work.begin()
        work.append(AppIndex(value: 1))
        var done = try dispatch()
        #expect(done.isEmpty || events.loop.freshNow - began >= 1_000)
        work.append(AppIndex(value: 2))
        let code = try events.runGuarded { _ in
            while let app = work.take() { done.append(app.value) }
            if done.contains(2) { events.loop.exit(code: 0) }
        }
        #expect(code == 0 && done == [1, 2])
        #expect(events.loop.freshNow - began >= 1_000)
    }
}

@Suite struct FirstPauseTests {
    @Test func beginsWhenNothingElseIsPending() throws {
        let events = try Events()
        let pause = try FirstPause(events)
        pause.begin()
        var (rounds, roundsBefore) = (0, 0)
        var other: LaterSource?
        other = try events.loop.later {
            rounds += 1
            if rounds < 3 { other?.schedule() }
        }
        other?.schedule()
        try events.loop.dispatchReady { events.handle { _ in roundsBefore = rounds } }
        #expect(roundsBefore == 3)
        pause.end()
    }

    @Test func beginsUnderRequestsWithoutPause() throws {
        let events = try Events()
        let pause = try FirstPause(events)
        pause.begin()
        var other: LaterSource?
        other = try events.loop.later { other?.schedule() }
        other?.schedule()
        #expect(try events.runGuarded { _ in events.loop.exit(code: 0) } == 0)
        pause.end()
    }
}

@Suite struct BatchedReapingTests {
    @Test func pauseGrowsWithTheNumberOfChildrenUpToALimit() {
        #expect(BatchedReaping.pause(children: 0) == 0)
        #expect(BatchedReaping.pause(children: 10) < 100)
        #expect(BatchedReaping.pause(children: 10_000) > 10_000)
        #expect(BatchedReaping.pause(children: 1_000_000) <= 100_000)
    }
}
