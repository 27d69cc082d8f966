import LifecycleCore
import Processes
import Systemd

/// Takes log entries.
protocol JournalSink: AnyObject {
    func write(_ subject: LogSubject)
    /// Writes an entry unless its cause has had its share of entries. The entries left out are counted and reported.
    func write(_ entry: LogEntry, causedBy cause: EntryCause)
}

/// Learns that entries were written.
protocol LogDelegate: AnyObject {
    /// Tells the delegate that no entry waits to be written.
    func entriesWritten()
}

extension JournalSink {
    func write(_ entry: LogEntry) { write(.entry(entry)) }

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
    private var console = Console()
    private var lost = 0
    private var waiting: [LogSubject] = []
    private var fields = JournalEntry()
    private var limiter = EntryLimiter()
    /// The loop, while it runs.
    private var running: Running?

    private struct Running {
        let loop: EventLoop
        /// Writes the waiting entries after a pause.
        let round: PostponedSource
        /// Writes them as soon as the replies are sent.
        let followUp: FollowUp
        let suppressionReport: TimerSource
    }

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
        running = Running(
            loop: loop,
            round: try loop.postponed { [weak self] in self?.writeWaiting() },
            followUp: try loop.followUp { [weak self] in self?.writeWaiting() },
            suppressionReport: try loop.timer { [weak self] in self?.reportSuppressed(until: loop.now) })
    }

    /// Writes all waiting entries, and later ones at once. Called when the loop has ended.
    func end() {
        reportSuppressed(until: .max)
        running = nil
        writeWaiting()
    }

    func write(_ subject: LogSubject) {
        guard let running else { return write([subject]) }
        waiting.append(subject)
        if subject.canWait { running.round.schedule() } else { running.followUp.schedule() }
    }

    func write(_ entry: LogEntry, causedBy cause: EntryCause) {
        guard let running, !limiter.admits(cause, at: running.loop.now) else { return write(.entry(entry)) }
        armSuppressionReport()
    }

    private func armSuppressionReport() {
        if let instant = limiter.nextReport { running?.suppressionReport.arm(atMicroseconds: instant) }
    }

    private func reportSuppressed(until instant: UInt64) {
        for (cause, count) in limiter.takeSuppressed(at: instant) {
            write(
                LogEntry(
                    id: .entriesSuppressed, priority: .notice,
                    message: "lifed has left out \(count) further log entries caused by \(cause.words)",
                    fields: [("LIFED_COUNT", String(count)), ("LIFED_REASON", cause.words)]))
        }
        armSuppressionReport()
    }

    private func writeWaiting() {
        write(waiting)
        waiting.removeAll(keepingCapacity: waiting.count <= 64)
        delegate?.entriesWritten()
    }

    private func write(_ subjects: [LogSubject]) {
        if lost > 0 {
            let message = "cannot write to the journal: \(lost) log entries were refused; losing them"
            if countRefused([.entry(LogEntry(priority: .warning, message: message))]) == 0 { lost = 0 }
        }
        lost += countRefused(subjects)
    }

    /// Writes entries, and returns the number of those that were refused.
    private func countRefused(_ subjects: [LogSubject]) -> Int {
        var refused = 0
        var hasFoundJournal = false
        for subject in subjects {
            fields.removeAll()
            subject.write(to: &fields)
            guard let journal else {
                refused += console.append(fields)
                continue
            }
            fields.add("PRIORITY", UInt64(subject.priority.rawValue))
            fields.add("SYSLOG_IDENTIFIER", word: "lifed")
            if let id = subject.id { fields.add("MESSAGE_ID", word: id.rawValue) }
            hasFoundJournal = journal.send(fields, isNext: hasFoundJournal) == nil
            if !hasFoundJournal { refused += 1 }
        }
        return refused + console.flush()
    }
}
