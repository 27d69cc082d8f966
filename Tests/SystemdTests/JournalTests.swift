import Glibc
import TestSupport
import Testing

@testable import Systemd

@Suite(.serialized) struct JournalTests {
    @Test(arguments: ["MESSAGE", "LIFED_APP", "A", "A1_2", String(repeating: "A", count: 64)])
    func namesThatClientsMaySet(name: String) {
        #expect(JournalField.isValid(name: name))
        #expect(JournalField(name, "value") != nil)
    }

    @Test(arguments: ["", "_PID", "1A", "a", "A-B", "A=B", "A B", "Ä", "A\n", String(repeating: "A", count: 65)])
    func namesThatJournaldRefuses(name: String) {
        #expect(!JournalField.isValid(name: name))
        #expect(JournalField(name, "value") == nil)
    }

    @Test func absentJournaldIsAnErrorAndNoEntry() throws {
        let journal = Journal(socketPath: "/nonexistent/journal")
        #expect(!journal.isAvailable)
        let message = try #require(JournalField("MESSAGE", "lost"))
        #expect(journal.send([message])?.errno == ENOENT)
    }

    @Test func aPathThatDoesNotFitIsAnError() throws {
        let journal = Journal(socketPath: "/" + String(repeating: "x", count: 200))
        #expect(!journal.isAvailable)
        let message = try #require(JournalField("MESSAGE", "lost"))
        #expect(journal.send([message])?.errno == ENAMETOOLONG)
    }

    @Test func aReaderThatDoesNotReadCostsTheEntryAndNoTime() throws {
        let receiver = try DatagramReceiver()
        let journal = Journal(socketPath: receiver.path)
        #expect(journal.isAvailable)
        try receiver.fill()
        let message = try #require(JournalField("MESSAGE", "lost"))
        #expect(journal.send([message])?.errno == EAGAIN)
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
    func anEntryReachesJournald() throws {
        let journal = Journal()
        let fields = [
            JournalField("MESSAGE", "a test of lifed\nof two lines"),
            JournalField("LIFED_APP", "org.example.test"),
            JournalField("PRIORITY", "7"),
        ]
        #expect(journal.send(fields.compactMap { $0 }) == nil)
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
