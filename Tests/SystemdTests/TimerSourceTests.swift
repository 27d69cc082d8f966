import Systemd
import Testing

@Suite(.serialized) struct TimerSourceTests {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test func aTimerFiresAtItsInstantAndNotBefore() throws {
        let instant = loop.freshNow + 20_000
        var firedAt: UInt64 = 0
        let timer = try loop.timer { [loop] in
            firedAt = loop.freshNow
            loop.exit(code: 0)
        }
        timer.arm(atMicroseconds: instant)
        try run(loop)
        #expect(firedAt >= instant)
    }

    @Test func anInstantThatHasPassedFiresInTheNextIteration() throws {
        let timer = try loop.timer { [loop] in loop.exit(code: 0) }
        timer.arm(atMicroseconds: 1)
        try run(loop)
    }

    /// Those whose time has come when the loop looks have no order among them.
    @Test func eachTimerFiresOnceAndNotBeforeItsTime() throws {
        var fired: [Int] = []
        var early: [Int] = []
        let base = loop.freshNow
        let instants = (0..<5).map { base + UInt64(5 - $0) * 2_000 }
        let timers = try instants.enumerated().map { number, instant in
            try loop.timer { [loop] in
                fired.append(number)
                if loop.freshNow < instant { early.append(number) }
                if fired.count == instants.count { loop.exit(code: 0) }
            }
        }
        for (timer, instant) in zip(timers, instants) { timer.arm(atMicroseconds: instant) }
        try run(loop)
        #expect(fired.sorted() == [0, 1, 2, 3, 4])
        #expect(early.isEmpty)
    }

    @Test func aTimerFiresOnceForEachTimeItIsArmed() throws {
        var timer: TimerSource?
        var calls = 0
        timer = try loop.timer { [loop] in
            calls += 1
            if calls < 3 { timer?.arm(atMicroseconds: loop.now) }
        }
        let end = try loop.timer { [loop] in loop.exit(code: 0) }
        end.setPriority(.idle)
        timer?.arm(atMicroseconds: loop.now)
        end.arm(atMicroseconds: loop.freshNow + 20_000)
        try run(loop)
        #expect(calls == 3)
        timer = nil
    }

    @Test func aDisarmedTimerDoesNotFire() throws {
        let timer = try loop.timer { Issue.record("fired after it was disarmed") }
        let end = try loop.timer { [loop] in loop.exit(code: 0) }
        end.setPriority(.idle)
        timer.arm(atMicroseconds: loop.freshNow + 1_000)
        timer.disarm()
        end.arm(atMicroseconds: loop.freshNow + 10_000)
        try run(loop)
    }

    @Test func aCancelledTimerCannotBeArmedAgain() throws {
        let timer = try loop.timer { Issue.record("fired after it was cancelled") }
        let end = try loop.timer { [loop] in loop.exit(code: 0) }
        end.setPriority(.idle)
        timer.cancel()
        timer.arm(atMicroseconds: 1)
        end.arm(atMicroseconds: loop.freshNow)
        try run(loop)
    }

    @Test func aTimerMayDropItselfWhenItFires() throws {
        var timer: TimerSource?
        timer = try loop.timer { [loop] in
            timer = nil
            loop.exit(code: 0)
        }
        timer?.arm(atMicroseconds: 1)
        try run(loop)
        #expect(timer == nil)
    }
}
