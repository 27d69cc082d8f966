import CLinux
import Glibc
import Systemd

/// An entry of the journal, or a line on standard error.
nonisolated struct LogEntry {
    var id: MessageID?
    var priority = Journal.Priority.info
    var message: String
    var fields: [(name: String, value: String)] = []
}

/// Takes log entries.
protocol JournalSink: AnyObject {
    func write(_ entry: LogEntry)
    /// Writes an entry unless its cause has had its share of entries. The entries left out are counted and reported.
    func write(_ entry: LogEntry, causedBy cause: EntryCause)
}

/// Learns that entries were written.
protocol LogDelegate: AnyObject {
    /// Called when no entry waits to be written.
    func entriesWritten()
}

extension JournalSink {
    func write(_ priority: Journal.Priority, _ message: String) {
        write(LogEntry(priority: priority, message: message))
    }
}

/// Writes entries to the journal or to standard error, and never waits. Entries that cannot be written are counted and
/// reported with the next one.
///
/// While the loop runs, entries are written after a pause: a client that waits for an app does not wait for entries.
final class Log: JournalSink {
    weak var delegate: (any LogDelegate)?
    private let journal: Journal?
    private let console = Console()
    private var lost = 0
    private var waiting: [LogEntry] = []
    private var round: TimerSource?
    private var limiter = EntryLimiter()
    private var suppressionReport: TimerSource?
    private var loop: EventLoop?

    var usesJournal: Bool { journal != nil }

    init(target: LogTarget) {
        let journal = Journal()
        switch target {
        case .console: self.journal = nil
        case .journal: self.journal = journal
        case .auto: self.journal = journal.isAvailable ? journal : nil
        }
    }

    /// Writes entries after a pause from now on.
    func begin(in loop: EventLoop) throws(SystemdError) {
        round = try loop.timer { [weak self] in self?.writeWaiting() }
        suppressionReport = try loop.timer { [weak self] in self?.reportSuppressed(until: loop.now) }
        self.loop = loop
    }

    /// Writes all waiting entries, and later ones at once. Called when the loop has ended.
    func end() {
        reportSuppressed(until: .max)
        round = nil
        writeWaiting()
    }

    func write(_ entry: LogEntry) {
        guard let loop, let round else { return writeNow(entry) }
        if waiting.isEmpty { round.arm(atMicroseconds: loop.freshNow + PostponedWork.pause) }
        waiting.append(entry)
    }

    func write(_ entry: LogEntry, causedBy cause: EntryCause) {
        guard let loop, !limiter.admits(cause, at: loop.now) else { return write(entry) }
        if let instant = limiter.nextReport { suppressionReport?.arm(atMicroseconds: instant) }
    }

    private func reportSuppressed(until instant: UInt64) {
        for (cause, count) in limiter.takeSuppressed(at: instant) {
            write(
                LogEntry(
                    id: .entriesSuppressed, priority: .notice,
                    message: "lifed has left out \(count) further log entries caused by \(cause.words)",
                    fields: [("LIFED_COUNT", String(count)), ("LIFED_REASON", cause.words)]))
        }
        if let instant = limiter.nextReport { suppressionReport?.arm(atMicroseconds: instant) }
    }

    private func writeWaiting() {
        let entries = waiting
        waiting.removeAll(keepingCapacity: entries.count <= 64)
        for entry in entries { writeNow(entry) }
        delegate?.entriesWritten()
    }

    private func writeNow(_ entry: LogEntry) {
        if lost > 0,
            put(
                LogEntry(
                    priority: .warning,
                    message: "cannot write to the journal: \(lost) log entries were refused; losing them"))
        {
            lost = 0
        }
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
nonisolated struct Console {
    /// A pipe that is ready takes PIPE_BUF bytes without making the writer wait (pipe(7)).
    private static let longestLine = 4096

    /// - Returns: A Boolean value that indicates whether the entry was written.
    func write(_ entry: LogEntry) -> Bool {
        let line = Self.line(of: entry)
        var request = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&request, 1, 0) == 1, request.revents & Int16(POLLOUT) != 0 else { return false }
        return unsafe Glibc.write(STDERR_FILENO, line, line.count) == line.count
    }

    /// Returns the entry as one line, whatever its texts contain.
    static func line(of entry: LogEntry) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        line.append(contentsOf: "lifed: ".utf8)
        append(entry.message, to: &line)
        for (name, value) in entry.fields {
            line.append(UInt8(ascii: " "))
            line.append(contentsOf: name.utf8)
            line.append(UInt8(ascii: "="))
            if !appendPlain(value, to: &line) { append(value.debugDescription, to: &line) }
        }
        if line.count >= longestLine { line.removeLast(line.count - longestLine + 1) }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Appends a text that needs no quotation marks.
    ///
    /// - Returns: False if it needs them.
    private static func appendPlain(_ text: String, to line: inout [UInt8]) -> Bool {
        let utf8 = text.utf8
        let bytes = utf8.span
        guard !bytes.isEmpty else { return false }
        for index in bytes.indices where !(0x21..<0x7F ~= bytes[index]) || bytes[index] == UInt8(ascii: "\"") {
            return false
        }
        append(bytes, to: &line)
        return true
    }

    private static func append(_ bytes: Span<UInt8>, to line: inout [UInt8]) {
        line.append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }

    /// Appends a text with a space for each scalar on which a terminal acts: controls, direction marks, line separators.
    private static func append(_ text: String, to line: inout [UInt8]) {
        // Most texts have none, and most are ASCII alone, or have an arrow besides.
        let utf8 = text.utf8
        let bytes = utf8.span
        if isPrintable(bytes) || !text.unicodeScalars.contains(where: { commandsTerminal($0) }) {
            return append(bytes, to: &line)
        }
        for scalar in text.unicodeScalars {
            line.append(contentsOf: String(commandsTerminal(scalar) ? " " : scalar).utf8)
        }
    }

    private static func isPrintable(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            // The arrows from U+2180 to U+21BF.
            if byte == 0xE2, index + 2 < bytes.count, bytes[index + 1] == 0x86 {
                index += 3
                continue
            }
            guard 0x20..<0x7F ~= byte else { return false }
            index += 1
        }
        return true
    }

    private static func commandsTerminal(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x7F else { return scalar.value < 0x20 }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
