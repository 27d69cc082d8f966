import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct BatchQueueTests {
    @Test func otherEventsAreHandledBetweenBatches() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        var doneBeforeOther: [Int] = []
        let work = try BatchQueue<Int>(loop: loop) {
            done.append($0)
            if $0 == 999 { loop.exit(code: 0) }
        }
        var other: DeferredSource?
        other = try loop.deferred {
            doneBeforeOther.append(done.count)
            other?.schedule()
        }
        other?.schedule()
        for item in 0..<1000 { work.append(item) }
        #expect(try loop.run() == 0)
        #expect(done == Array(0..<1000))
        #expect(doneBeforeOther.count > 10)
    }

    @Test func removedItemIsNotDoneUnlessItIsAppendedAgain() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        let work = try BatchQueue<Int>(loop: loop) {
            done.append($0)
            if $0 == 4 { loop.exit(code: 0) }
        }
        for item in [1, 2, 2, 3, 1] { work.append(item) }
        work.remove(1)
        work.remove(3)
        work.append(3)
        work.append(4)
        #expect(try loop.run() == 0)
        #expect(done == [2, 3, 4])
    }
}

@Suite struct DelayedReapingTests {
    @Test func pauseGrowsWithTheNumberOfChildrenUpToALimit() {
        #expect(DelayedReaping.pause(children: 0) == 0)
        #expect(DelayedReaping.pause(children: 10) < 100)
        #expect(DelayedReaping.pause(children: 10_000) > 10_000)
        #expect(DelayedReaping.pause(children: 1_000_000) <= 100_000)
    }
}
