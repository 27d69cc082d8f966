import Systemd
import Testing

@Suite(.serialized) struct LaterSourceTests {
    @Test func manyRequestsAreOneCall() throws {
        let loop = try EventLoop()
        var calls = 0
        let source = try loop.later { calls += 1 }
        let end = try loop.later { loop.exit(code: 0) }
        end.setPriority(.idle)
        source.schedule()
        source.schedule()
        end.schedule()
        try run(loop)
        #expect(calls == 1)
    }

    @Test func aHandlerMayScheduleItselfAgain() throws {
        let loop = try EventLoop()
        var source: LaterSource?
        var calls = 0
        source = try loop.later {
            calls += 1
            if calls == 3 { loop.exit(code: 0) } else { source?.schedule() }
        }
        source?.schedule()
        try run(loop)
        #expect(calls == 3)
        source = nil
    }

    @Test func laterSourceThatReschedulesLetsOthersRun() throws {
        let loop = try EventLoop()
        var rounds = 0
        var source: LaterSource?
        source = try loop.later {
            rounds += 1
            if rounds == 100 { loop.exit(code: 1) } else { source?.schedule() }
        }
        let pipe = try LoopPipe()
        pipe.write("x")
        let watch = try loop.watch(descriptor: pipe.readEnd, events: .readable) { _ in loop.exit(code: 0) }
        source?.schedule()
        try run(loop)
        #expect(rounds < 100)
        watch.cancel()
        source = nil
    }
}
