import Glibc
import Systemd
import Testing

@Suite(.serialized) struct EventLoopTests {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test func exitCodeIsReturned() throws {
        let start = try loop.later { [loop] in loop.exit(code: 7) }
        start.schedule()
        #expect(try loop.run() == 7)
    }

    @Test func nowIsTheSameForAllHandlersOfAnIteration() throws {
        var seen: [UInt64] = []
        let first = try loop.later { [loop] in
            seen.append(loop.now)
            while loop.freshNow <= loop.now + 1_000 {}
            seen.append(loop.now)
            loop.exit(code: 0)
        }
        first.schedule()
        try run(loop)
        #expect(seen.count == 2 && seen[0] == seen[1])
    }

    @Test func withoutAServiceManagerThereIsNoWatchdog() throws {
        #expect(try loop.enableWatchdog() == false)
    }

    @Test func prioritiesDecideAmongSourcesThatAreReadyTogether() throws {
        var order: [String] = []
        let last = try loop.later { [loop] in
            order.append("idle")
            loop.exit(code: 0)
        }
        let middle = try loop.later { order.append("normal") }
        let first = try loop.later { order.append("important") }
        last.setPriority(.idle)
        first.setPriority(.important)
        for source in [last, middle, first] { source.schedule() }
        try run(loop)
        #expect(order == ["important", "normal", "idle"])
    }

    @Test func aDroppedLoopTakesItsDescriptorsWithIt() throws {
        let before = try openDescriptors()
        try autoreleased {
            let other = try EventLoop()
            let timer = try other.timer {}
            timer.arm(atMicroseconds: .max - 1)
            #expect(try openDescriptors() > before)
        }
        #expect(try openDescriptors() == before)
    }
}

/// A scope of its own, at whose end everything made in it is gone.
private func autoreleased(_ body: () throws -> Void) rethrows {
    try body()
}

/// The number of of this process's descriptors belong to event loops; other tests open and close other kinds meanwhile.
private func openDescriptors() throws -> Int {
    (0..<256).count { number in
        var target = [CChar](repeating: 0, count: 128)
        let length = unsafe readlink("/proc/self/fd/\(number)", &target, target.count)
        guard length > 0 else { return false }
        let text = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text == "anon_inode:[eventpoll]" || text == "anon_inode:[timerfd]"
    }
}
