import Systemd
import Testing

@testable import LifecycleDaemon

/// Work on many that lets others have their turn.
@Suite struct RoundsTests {
    @Test func othersHaveTheirTurnBeforeAllIsDone() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        var doneBeforeOther: [Int] = []
        let work = try Rounds<Int>(loop: loop) {
            done.append($0)
            if $0 == 999 { loop.exit(code: 0) }
        }
        var other: DeferredSource?
        other = try loop.deferred {
            doneBeforeOther.append(done.count)
            other?.schedule()
        }
        other?.schedule()
        for item in 0..<1000 { work.add(item) }
        #expect(try loop.run() == 0)
        #expect(done == Array(0..<1000))
        #expect(doneBeforeOther.count > 10)
    }

    @Test func whatIsTakenOutIsNotWorkedOnUnlessItComesBack() throws {
        let loop = try EventLoop()
        var done: [Int] = []
        let work = try Rounds<Int>(loop: loop) {
            done.append($0)
            if $0 == 4 { loop.exit(code: 0) }
        }
        for item in [1, 2, 2, 3, 1] { work.add(item) }
        work.remove(1)
        work.remove(3)
        work.add(3)
        work.add(4)
        #expect(try loop.run() == 0)
        #expect(done == [2, 3, 4])
    }
}
