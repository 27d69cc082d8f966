import Glibc
import Systemd
import Testing

/// Runs a loop until its handlers end it. A guard ends it too, so that a handler that is never called is a failed
/// test and not one that hangs; the guard's length decides nothing else.
func run(_ loop: EventLoop, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let limit = try loop.timer { loop.exit(code: loopGaveUp) }
    limit.arm(atMicroseconds: loop.freshNow + 20_000_000)
    let code = try loop.run()
    #expect(code != loopGaveUp, "the loop was still waiting after 20 s", sourceLocation: sourceLocation)
}

private let loopGaveUp: Int32 = 99

/// A pipe whose ends are closed with it.
final class LoopPipe {
    let readEnd: Int32
    private(set) var writeEnd: Int32?

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    func write(_ text: String) {
        guard let writeEnd else { return }
        let bytes = Array(text.utf8)
        #expect(unsafe Glibc.write(writeEnd, bytes, bytes.count) == bytes.count)
    }

    func read() -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(readEnd, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    func closeWriteEnd() {
        if let writeEnd { close(writeEnd) }
        writeEnd = nil
    }

    isolated deinit {
        close(readEnd)
        if let writeEnd { close(writeEnd) }
    }
}
