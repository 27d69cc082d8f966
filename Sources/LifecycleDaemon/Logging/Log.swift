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
///
/// While the loop runs, entries are written when it comes round, and not in the midst of what they tell of: whoever waits for an
/// app to come forward does not wait for words.
final class Log {
    private let journal: Journal?
    private let console = Console()
    private var lost = 0
    private var waiting: [LogEntry] = []
    private var round: DeferredSource?
    private var limiter = EntryLimiter()
    /// Armed while entries were left out and are not reported yet.
    private var suppressionReport: TimerSource?
    private var loop: EventLoop?

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

    /// From now on entries wait until the loop comes round.
    func begin(in loop: EventLoop) throws(SystemdError) {
        round = try loop.deferred { [weak self] in self?.writeWaiting() }
        suppressionReport = try loop.timer { [weak self] in self?.reportSuppressed(until: loop.now) }
        self.loop = loop
    }

    /// The loop has ended: writes what waits, and from now on everything at once.
    func end() {
        reportSuppressed(until: .max)
        round = nil
        writeWaiting()
    }

    func write(_ entry: LogEntry) {
        guard let round else { return writeNow(entry) }
        if waiting.isEmpty { round.schedule() }
        waiting.append(entry)
    }

    /// Writes an entry unless its cause has had its share of entries; the entries left out are counted and reported.
    func write(_ entry: LogEntry, causedBy cause: EntryCause) {
        guard let loop, !limiter.admits(cause, at: loop.now) else { return write(entry) }
        if let instant = limiter.nextReport { suppressionReport?.arm(atMicroseconds: instant) }
    }

    private func reportSuppressed(until instant: UInt64) {
        for (cause, count) in limiter.takeSuppressed(at: instant) {
            write(
                LogEntry(
                    id: .entriesSuppressed, priority: .notice,
                    message: "\(count) further log entries caused by \(cause.words) were left out",
                    fields: [("LIFED_COUNT", String(count)), ("LIFED_REASON", cause.words)]))
        }
        if let instant = limiter.nextReport { suppressionReport?.arm(atMicroseconds: instant) }
    }

    private func writeWaiting() {
        let entries = waiting
        waiting.removeAll(keepingCapacity: entries.count <= 64)
        for entry in entries { writeNow(entry) }
    }

    private func writeNow(_ entry: LogEntry) {
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
