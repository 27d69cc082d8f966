import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct BatchQueueTests {
    @Test func otherEventsAreHandledBetweenBatches() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        var doneBeforeOther: [Int] = []
        let work = try BatchQueue(loop: loop) {
            done.append($0.value)
            if $0.value == 999 { loop.exit(code: 0) }
        }
        var other: LaterSource?
        other = try loop.later {
            doneBeforeOther.append(done.count)
            other?.schedule()
        }
        other?.schedule()
        for item in 0..<1000 { work.append(AppIndex(value: item)) }
        #expect(try loop.runGuarded() == 0)
        #expect(done == Array(0..<1000))
        #expect(doneBeforeOther.count > 10)
    }

    @Test func removedItemIsNotDoneUnlessItIsAppendedAgain() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        let work = try BatchQueue(loop: loop) {
            done.append($0.value)
            if $0.value == 4 { loop.exit(code: 0) }
        }
        for item in [1, 2, 2, 3, 1] { work.append(AppIndex(value: item)) }
        work.remove(AppIndex(value: 1))
        work.remove(AppIndex(value: 3))
        work.append(AppIndex(value: 3))
        work.append(AppIndex(value: 4))
        #expect(try loop.runGuarded() == 0)
        #expect(done == [2, 3, 4])
    }

    @Test func heldWorkWaitsUntilItIsBegun() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        let work = try BatchQueue(loop: loop, isWaiting: true) { done.append($0.value) }
        for item in 0..<3 { work.append(AppIndex(value: item)) }
        work.remove(AppIndex(value: 1))
        try loop.dispatchReady()
        #expect(done.isEmpty)
        work.begin()
        try loop.dispatchReady()
        #expect(done == [0, 2])
        work.append(AppIndex(value: 3))
        try loop.dispatchReady()
        #expect(done == [0, 2, 3])
    }
}

extension BatchQueueTests {
    @Test func workAfterPauseBeginsBehindAllThatIsReadyAndTakesItemsOfThePause() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        let began = loop.freshNow
        let work = try BatchQueue(loop: loop, start: .idle) {
            done.append($0.value)
            if $0.value == 2 { loop.exit(code: 0) }
        }
        work.append(AppIndex(value: 1))
        try loop.dispatchReady()
        #expect(done.isEmpty || loop.freshNow - began >= 1_000)
        work.append(AppIndex(value: 2))
        #expect(try loop.runGuarded() == 0)
        #expect(done == [1, 2])
        #expect(loop.freshNow - began >= 1_000)
    }
}

@Suite struct FirstPauseTests {
    @Test func beginsWhenNothingElseIsPending() throws {
        let events = try Events()
        let pause = try FirstPause(events)
        var (rounds, roundsBefore) = (0, 0)
        var other: LaterSource?
        other = try events.loop.later {
            rounds += 1
            if rounds < 3 { other?.schedule() }
        }
        other?.schedule()
        try events.loop.dispatchReady { events.handle { _ in roundsBefore = rounds } }
        #expect(roundsBefore == 3)
        extendLifetime(pause)
    }

    @Test func beginsUnderRequestsWithoutPause() throws {
        let events = try Events()
        let pause = try FirstPause(events)
        var other: LaterSource?
        other = try events.loop.later { other?.schedule() }
        other?.schedule()
        let code = try events.loop.runGuarded {
            events.handle { _ in events.loop.exit(code: 0) }
        }
        #expect(code == 0)
        extendLifetime(pause)
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
