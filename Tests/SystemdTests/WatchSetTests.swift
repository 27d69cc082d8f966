import Glibc
import Testing

@testable import Systemd

@Suite @MainActor struct WatchSetTests {
    /// A pipe that is closed with it.
    private final class Pipe {
        let (reader, writer): (Int32, Int32)

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(unsafe pipe(&ends) == 0)
            (reader, writer) = (ends[0], ends[1])
        }

        func write() {
            var byte: UInt8 = 1
            #expect(unsafe Glibc.write(writer, &byte, 1) == 1)
        }

        deinit {
            close(reader)
            close(writer)
        }
    }

    @Test func readyDescriptorsAreReportedByTheirNumbersOnce() throws {
        let loop = try EventLoop()
        var found: [UInt64] = []
        let set = try loop.watchSet(events: [.readable, .edgeTriggered]) { found.append($0) }
        let pipes = try (0..<20).map { _ in try Pipe() }
        for (number, pipe) in pipes.enumerated() { try set.add(pipe.reader, number: UInt64(number) << 32 | 7) }
        try loop.dispatchReady()
        #expect(found.isEmpty)
        for pipe in pipes { pipe.write() }
        try loop.dispatchReady()
        #expect(found.sorted() == (0..<20).map { $0 << 32 | 7 })
        try loop.dispatchReady()
        #expect(found.count == 20)
    }

    @Test func removedDescriptorIsNotReported() throws {
        let loop = try EventLoop()
        var found: [UInt64] = []
        let set = try loop.watchSet(events: [.readable, .edgeTriggered]) { found.append($0) }
        let (first, second) = (try Pipe(), try Pipe())
        try set.add(first.reader, number: 1)
        try set.add(second.reader, number: 2)
        #expect(throws: SystemdError.self) { try set.add(second.reader, number: 3) }
        first.write()
        second.write()
        set.remove(first.reader)
        set.remove(first.reader)
        try loop.dispatchReady()
        #expect(found == [2])
    }

    @Test func handlerMayRemoveDescriptorsThatAreReady() throws {
        let loop = try EventLoop()
        let pipes = try (0..<3).map { _ in try Pipe() }
        var set: WatchSet?
        var count = 0
        set = try loop.watchSet(events: .readable) { _ in
            count += 1
            for pipe in pipes { set?.remove(pipe.reader) }
        }
        for pipe in pipes {
            try set?.add(pipe.reader, number: 0)
            pipe.write()
        }
        try loop.dispatchReady()
        #expect((1...3).contains(count))
        set = nil
    }
}
