import Glibc
import TestSupport
import Testing

@testable import Systemd

@Suite(.serialized) struct JournalTests {
    @Test func absentJournaldIsAnErrorAndNoEntry() {
        let journal = Journal(socketPath: "/nonexistent/journal")
        #expect(!journal.isAvailable)
        #expect(journal.send([("MESSAGE", "lost")])?.errno == ENOENT)
    }

    @Test func aPathThatDoesNotFitIsAnError() {
        let journal = Journal(socketPath: "/" + String(repeating: "x", count: 200))
        #expect(!journal.isAvailable)
        #expect(journal.send([("MESSAGE", "lost")])?.errno == ENAMETOOLONG)
    }

    @Test func aReaderThatDoesNotReadCostsTheEntryAndNoTime() throws {
        let receiver = try DatagramReceiver()
        let journal = Journal(socketPath: receiver.path)
        #expect(journal.isAvailable)
        try receiver.fill()
        #expect(journal.send([("MESSAGE", "lost")])?.errno == EAGAIN)
        #expect(journal.isAvailable)
    }

    @Test func aReaderThatComesBackIsFoundAgain() throws {
        let directory = try TemporaryDirectory()
        var receiver: DatagramReceiver? = try DatagramReceiver(in: directory)
        let path = try #require(receiver?.path)
        let probe = DatagramProbe(path: path)
        #expect(probe.peer() == .ready)
        receiver = nil
        #expect(probe.peer() == .absent(errno: ENOENT))
        receiver = try DatagramReceiver(in: directory)
        #expect(probe.peer() == .ready)
        receiver = nil
    }

    @Test(.enabled(if: journaldRuns, "no journald runs here"))
    func anEntryReachesJournald() {
        let journal = Journal()
        let fields = [
            ("MESSAGE", "a test of lifed\nof two lines"), ("LIFED_APP", "org.example.test"), ("PRIORITY", "7"),
        ]
        #expect(journal.send(fields) == nil)
        #expect(journal.send([])?.errno == EINVAL)
    }

    @Test(.enabled(if: journaldRuns, "no journald runs here"))
    func aStreamTakesOutput() throws {
        let descriptor = try Journal().streamDescriptor(identifier: "lifed-test", priority: .debug).release()
        defer { close(descriptor) }
        #expect(unsafe write(descriptor, "a line\n", 7) == 7)
    }

    @Test(.enabled(if: !journaldRuns, "a journald runs here"))
    func aStreamWithoutJournaldIsAnError() {
        let error = #expect(throws: SystemdError.self) {
            _ = try Journal().streamDescriptor(identifier: "lifed-test", priority: .info)
        }
        #expect(error?.operation == "open a journal stream for lifed-test")
    }
}

private nonisolated let journaldRuns = unsafe access("/run/systemd/journal/stdout", W_OK) == 0
