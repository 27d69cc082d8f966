import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct LogTests {
    private final class Delegate: LogDelegate {
        var count = 0
        func entriesWritten() { count += 1 }
    }

    /// Returns the number of writes until the handler that writes an entry has ended.
    private func writes(of entry: LogEntry) throws -> Int {
        let (loop, log, delegate) = (try EventLoop(), Log(target: .console), Delegate())
        log.delegate = delegate
        try log.begin(in: loop)
        var count = 0
        let next = try loop.later {
            count = delegate.count
            loop.exit(code: 0)
        }
        let source = try loop.later {
            log.write(entry)
            next.schedule()
        }
        source.schedule()
        _ = try loop.runGuarded()
        log.end()
        return count
    }

    @Test func entryThatNoSuccessorWritesDoesNotWait() throws {
        #expect(try writes(of: LogEntry(id: .exited, message: "clock exited")) == 1)
    }

    @Test func entriesInTheMiddleOfAChangeWait() throws {
        #expect(try writes(of: LogEntry(id: .transition, message: "clock: inactive → active (focus)")) == 0)
        #expect(try writes(of: LogEntry(id: .callbackAnswered, message: "clock has answered")) == 0)
    }
}
