import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct LogTests {
    /// Returns whether an entry is written in the turn in which it is made.
    private func isUrgent(_ entry: LogEntry) throws -> Bool {
        let log = try Log(target: .console, events: Events())
        log.begin()
        log.write(entry)
        #expect(!log.isWritten)
        log.writeUrgent()
        defer { log.end() }
        return log.isWritten
    }

    @Test func entryThatNoSuccessorWritesDoesNotWait() throws {
        #expect(try isUrgent(LogEntry(id: .exited, message: "clock exited")))
    }

    @Test func entriesInTheMiddleOfAChangeWait() throws {
        #expect(try !isUrgent(LogEntry(id: .transition, message: "clock: inactive → active (focus)")))
        #expect(try !isUrgent(LogEntry(id: .callbackAnswered, message: "clock has answered")))
    }
}
