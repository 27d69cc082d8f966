import Testing

@testable import Systemd

@Suite @MainActor struct WatchSetTests {
    @Test func readyDescriptorsAreReportedByTheirNumbersOnce() throws {
        let loop = try EventLoop()
        var found: [UInt64] = []
        let set = try loop.watchSet(events: [.readable, .edgeTriggered]) { found.append($0) }
        let pipes = try (0..<20).map { _ in try LoopPipe() }
        for (number, pipe) in pipes.enumerated() { try set.add(pipe.readEnd, number: UInt64(number) << 32 | 7) }
        try loop.dispatchReady()
        #expect(found.isEmpty)
        for pipe in pipes { pipe.write("x") }
        try loop.dispatchReady()
        #expect(found.sorted() == (0..<20).map { $0 << 32 | 7 })
        try loop.dispatchReady()
        #expect(found.count == 20)
    }

    @Test func removedDescriptorIsNotReported() throws {
        let loop = try EventLoop()
        var found: [UInt64] = []
        let set = try loop.watchSet(events: [.readable, .edgeTriggered]) { found.append($0) }
        let (first, second) = (try LoopPipe(), try LoopPipe())
        try set.add(first.readEnd, number: 1)
        try set.add(second.readEnd, number: 2)
        #expect(throws: SystemdError.self) { try set.add(second.readEnd, number: 3) }
        first.write("x")
        second.write("x")
        set.remove(first.readEnd)
        set.remove(first.readEnd)
        try loop.dispatchReady()
        #expect(found == [2])
    }

    @Test func handlerMayRemoveDescriptorsThatAreReady() throws {
        let loop = try EventLoop()
        let pipes = try (0..<3).map { _ in try LoopPipe() }
        var set: WatchSet?
        var count = 0
        set = try loop.watchSet(events: .readable) { _ in
            count += 1
            for pipe in pipes { set?.remove(pipe.readEnd) }
        }
        for pipe in pipes {
            try set?.add(pipe.readEnd, number: 0)
            pipe.write("x")
        }
        try loop.dispatchReady()
        #expect((1...3).contains(count))
        set = nil
    }
}
