import LifecycleCore
import Processes
import Systemd

/// Takes log entries.
protocol JournalSink: AnyObject {
    func write(_ entry: LogEntry)
    /// Writes an entry unless its cause has had its share of entries. The entries left out are counted and reported.
    func write(_ entry: LogEntry, causedBy cause: EntryCause)
}

extension JournalSink {
    /// Writes an entry, of which its cause has a share; nil for no limit.
    func write(_ entry: LogEntry, causedBy cause: EntryCause?) {
        if let cause { write(entry, causedBy: cause) } else { write(entry) }
    }

    func write(_ priority: Journal.Priority, _ message: String) {
        write(LogEntry(priority: priority, message: message))
    }
}

/// Writes entries to the journal or to standard error, and never waits. Entries that cannot be written are counted and
/// reported with the next one.
///
/// While the loop runs, entries are written after a pause: a client that waits for an app does not wait for entries.
final class Log: JournalSink {
    private let journal: Journal?
    private var console = Console()
    private var lost = 0
    private var waiting: [LogEntry] = []
    /// True while one of them must not wait for a pause.
    private var isUrgent = false
    private var limiter = EntryLimiter()
    /// True while the loop runs.
    private var isRunning = false
    private let loop: EventLoop
    private let pause: IdleSource
    private let suppressionReport: TimerSource

    var isWritten: Bool { waiting.isEmpty }
    var usesJournal: Bool { journal != nil }

    init(target: LogTarget, events: Events) throws(SystemdError) {
        let journal = Journal()
        switch target {
        case .console: self.journal = nil
        case .journal: self.journal = journal
        case .auto: self.journal = journal.isAvailable ? journal : nil
        }
        loop = events.loop
        pause = try events.idle(.logPause)
        suppressionReport = try events.timer(.suppressionReportDue)
    }

    /// Writes entries after a pause from now on. Called when the loop is about to run.
    func begin() { isRunning = true }

    /// Writes all waiting entries, and later ones at once. Called when the loop has ended.
    func end() {
        reportSuppressed(until: .max)
        isRunning = false
        writeWaiting()
    }

    func write(_ entry: LogEntry) {
        guard isRunning else { return write([entry]) }
        waiting.append(entry)
        if entry.canWait { pause.schedule() } else { isUrgent = true }
    }

    /// Writes the waiting entries if one of them must not wait for a pause. Called when the replies are sent.
    func writeUrgent() { if isUrgent { writeWaiting() } }

    func write(_ entry: LogEntry, causedBy cause: EntryCause) {
        guard isRunning, !limiter.admits(cause, size: entry.size, at: loop.now) else {
            return write(entry)
        }
        armSuppressionReport()
    }

    private func armSuppressionReport() {
        if let instant = limiter.nextReport { suppressionReport.arm(atMicroseconds: instant) }
    }

    /// Reports the entries that were left out up to an instant.
    func reportSuppressed(until instant: UInt64) {
        for (cause, count) in limiter.takeSuppressed(at: instant) {
            write(
                LogEntry(
                    id: .entriesSuppressed, priority: .notice,
                    message: "lifed has left out \(count) further log entries caused by \(cause.words)",
                    fields: [("LIFED_COUNT", String(count)), ("LIFED_REASON", cause.words)]))
        }
        armSuppressionReport()
    }

    func writeWaiting() {
        write(waiting)
        waiting = []
        isUrgent = false
    }

    private func write(_ entries: [LogEntry]) {
        if lost > 0 {
            let message = "cannot write to the journal: \(lost) log entries were refused; losing them"
            if countRefused([LogEntry(priority: .warning, message: message)]) == 0 { lost = 0 }
        }
        lost += countRefused(entries)
    }

    /// Writes entries, and returns the number of those that were refused.
    private func countRefused(_ entries: [LogEntry]) -> Int {
        var refused = 0
        for entry in entries {
            guard let journal else {
                refused += console.append(entry)
                continue
            }
            var fields = [("MESSAGE", entry.message)] + entry.fields
            fields += [("PRIORITY", String(entry.priority.rawValue)), ("SYSLOG_IDENTIFIER", "lifed")]
            if let id = entry.id { fields.append(("MESSAGE_ID", id.rawValue)) }
            if journal.send(fields) != nil { refused += 1 }
        }
        return refused + console.flush()
    }
}

/// An entry of the journal, or a line on standard error.
nonisolated struct LogEntry {
    var id: MessageID?
    var priority = Journal.Priority.info
    var message: String
    var fields: [(name: String, value: String)] = []

    /// True if the entry can wait. A successor of the daemon writes that of a transition, and an app has answered a callback in
    /// the middle of a change.
    var canWait: Bool { id == .transition || id == .sceneTransition || id == .callbackAnswered }

    /// The bytes of the entry, about as many as the journal gets.
    var size: Int { fields.reduce(message.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}
