import Systemd
import Testing

@Suite(.serialized) struct IdleSourceTests {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test func allWorkOfAPauseRunsTogether() throws {
        var order: [String] = []
        var instants: Set<UInt64> = []
        let first = try loop.idle { [loop] in
            order.append("first")
            instants.insert(loop.now)
        }
        let second = try loop.idle { [loop] in
            order.append("second")
            instants.insert(loop.now)
            loop.exit(code: 0)
        }
        first.schedule()
        second.schedule()
        first.schedule()
        try run(loop)
        #expect(order == ["first", "second"])
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
