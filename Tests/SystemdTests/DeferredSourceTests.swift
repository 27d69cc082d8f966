import Systemd
import Testing

@Suite(.serialized) struct DeferredSourceTests {
    @Test func manyRequestsAreOneCall() throws {
        let loop = try EventLoop()
        var calls = 0
        let source = try loop.deferred { calls += 1 }
        let end = try loop.deferred { loop.exit(code: 0) }
        end.setPriority(.idle)
        source.schedule()
        source.schedule()
        end.schedule()
        try run(loop)
        #expect(calls == 1)
    }

    @Test func aHandlerMayScheduleItselfAgain() throws {
        let loop = try EventLoop()
        var source: DeferredSource?
        var calls = 0
        source = try loop.deferred {
            calls += 1
            if calls == 3 { loop.exit(code: 0) } else { source?.schedule() }
        }
        source?.schedule()
        try run(loop)
        #expect(calls == 3)
        source = nil
    }

    @Test func deferredSourceThatReschedulesLetsOthersRun() throws {
        let loop = try EventLoop()
        var rounds = 0
        var source: DeferredSource?
        source = try loop.deferred {
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
