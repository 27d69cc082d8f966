import Systemd
import Testing

@Suite(.serialized) struct FollowUpTests {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test func workFollowsItsHandlerBeforeAnotherEvent() throws {
        var order: [String] = []
        let followUp = try loop.followUp { order.append("follow-up") }
        let first = try loop.later {
            order.append("first begins")
            followUp.schedule()
            followUp.schedule()
            order.append("first ends")
        }
        let second = try loop.later { [loop] in
            order.append("second")
            loop.exit(code: 0)
        }
        first.schedule()
        second.schedule()
        try run(loop)
        #expect(order == ["first begins", "first ends", "follow-up", "second"])
    }

    @Test func workThatSchedulesItselfRunsOnceMore() throws {
        var count = 0
        var followUp: LaterSource?
        followUp = try loop.followUp { [loop] in
            count += 1
            if count < 3 { followUp?.schedule() } else { loop.exit(code: 0) }
        }
        let first = try loop.later { followUp?.schedule() }
        first.schedule()
        try run(loop)
        #expect(count == 3)
    }

    @Test func workThatIsScheduledOutsideOfHandlersRunsInTheLoop() throws {
        var count = 0
        let followUp = try loop.followUp { [loop] in
            count += 1
            loop.exit(code: 0)
        }
        followUp.schedule()
        #expect(count == 0)
        try run(loop)
        #expect(count == 1)
    }
}

@Suite(.serialized) struct IdleSourceTests {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test func allWorkOfAPauseRunsTogetherAndTheLastWorkBehindIt() throws {
        var order: [String] = []
        var instants: Set<UInt64> = []
        let last = try loop.idle(isLast: true) { [loop] in
            order.append("last")
            instants.insert(loop.now)
            loop.exit(code: 0)
        }
        let first = try loop.idle { [loop] in
            order.append("first")
            instants.insert(loop.now)
        }
        // It is scheduled in the round itself, and belongs to it.
        let second = try loop.idle {
            order.append("second")
            last.schedule()
        }
        first.schedule()
        second.schedule()
        first.schedule()
        try run(loop)
        #expect(order == ["first", "second", "last"])
        #expect(instants.count == 1)
    }

    @Test func workThatSchedulesItselfWaitsForAnotherPause() throws {
        var instants: Set<UInt64> = []
        var source: IdleSource?
        source = try loop.idle { [loop] in
            instants.insert(loop.now)
            if instants.count < 3 { source?.schedule() } else { loop.exit(code: 0) }
        }
        source?.schedule()
        try run(loop)
        #expect(instants.count == 3)
    }
}
