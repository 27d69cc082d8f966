import Glibc
import Systemd

/// One thing that happened, for the journal or for standard error.
struct LogEntry {
    var id: MessageID?
    var priority = Journal.Priority.info
    var message: String
    var fields: [(name: String, value: String)] = []
}

/// Writes entries where the options say. Nothing here waits: what cannot be written at once is counted and reported
/// with the next entry that can.
final class Log {
    private let journal: Journal?
    private let console = Console()
    private var lost = 0

    /// Whether entries go to the journal.
    var usesJournal: Bool { journal != nil }

    init(target: LogTarget) {
        let journal = Journal()
        switch target {
        case .console: self.journal = nil
        case .journal: self.journal = journal
        case .auto: self.journal = journal.isAvailable ? journal : nil
        }
    }

    func write(_ entry: LogEntry) {
        if lost > 0, put(LogEntry(priority: .warning, message: "\(lost) log entries were lost")) { lost = 0 }
        if !put(entry) { lost += 1 }
    }

    private func put(_ entry: LogEntry) -> Bool {
        guard let journal else { return console.write(entry) }
        return journal.send(entry.journalFields) == nil
    }
}

extension LogEntry {
    fileprivate var journalFields: [JournalField] {
        var pairs = [
            ("MESSAGE", message), ("PRIORITY", String(priority.rawValue)), ("SYSLOG_IDENTIFIER", "lifed"),
        ]
        if let id { pairs.append(("MESSAGE_ID", id.rawValue)) }
        return (pairs + fields).compactMap { JournalField($0.0, $0.1) }
    }
}

/// Standard error, written to only while it takes what is written.
private struct Console {
    func write(_ entry: LogEntry) -> Bool {
        var line = "lifed: " + entry.message
        for (name, value) in entry.fields { line += " \(name)=\(value.isPlain ? value : value.debugDescription)" }
        // A pipe that is ready takes PIPE_BUF bytes without making the writer wait (pipe(7)).
        let text = String(line.map { $0.isNewline ? " " : $0 })
        let bytes = Array(text.utf8.prefix(4095)) + [UInt8(ascii: "\n")]
        var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&request, 1, 0) == 1, request.revents & Int16(POLLOUT) != 0 else { return false }
        return unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count) == bytes.count
    }
}

extension String {
    fileprivate var isPlain: Bool {
        !isEmpty && utf8.allSatisfy { $0 > UInt8(ascii: " ") && $0 < 0x7F && $0 != UInt8(ascii: "\"") }
    }
}
