import LifecycleCore
import Processes
import Systemd

/// Takes log entries.
protocol JournalSink: AnyObject {
    func write(_ subject: LogSubject)
    /// Writes an entry unless its cause has had its share of entries. The entries left out are counted and reported.
    func write(_ subject: LogSubject, causedBy cause: EntryCause)
}

/// Learns that entries were written.
protocol LogDelegate: AnyObject {
    /// Tells the delegate that no entry waits to be written.
    func entriesWritten()
}

extension JournalSink {
    func write(_ entry: LogEntry) { write(.entry(entry)) }

    /// Writes an entry, of which its cause has a share; nil for no limit.
    func write(_ subject: LogSubject, causedBy cause: EntryCause?) {
        if let cause { write(subject, causedBy: cause) } else { write(subject) }
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

    func write(_ subject: LogSubject, causedBy cause: EntryCause) {
        guard let running, !limiter.admits(cause, size: subject.size, at: running.loop.now) else {
            return write(subject)
        }
        // The delegate learns that the entry does not wait.
        running.round.schedule()
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

/// An entry of the journal, or a line on standard error.
nonisolated struct LogEntry {
    var id: MessageID?
    var priority = Journal.Priority.info
    var message: String
    var fields: [(name: String, value: String)] = []
}

/// A subject that becomes an entry when it is written. A transition is composed then, without texts in between.
nonisolated enum LogSubject {
    case entry(LogEntry)
    case transition(Transition, pid: ProcessID?)

    var id: MessageID? {
        switch self {
        case .entry(let entry): entry.id
        case .transition: .transition
        }
    }

    /// A Boolean value that indicates whether the entry can wait. A successor of the daemon writes that of a transition, and an app has
    /// answered a callback in the middle of a change.
    var canWait: Bool { id == .transition || id == .sceneTransition || id == .callbackAnswered }

    var priority: Journal.Priority {
        switch self {
        case .entry(let entry): entry.priority
        case .transition: .info
        }
    }

    /// The bytes of the entry, about as many as the journal gets.
    var size: Int {
        switch self {
        case .entry(let entry):
            entry.fields.reduce(entry.message.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        case .transition(let step, _): 2 * step.app.name.utf8.count + Self.sizeOfTransition
        }
    }

    private static let sizeOfTransition = 200

    /// Writes the fields of the entry, `MESSAGE` first, without those that every entry has.
    func write(to fields: inout JournalEntry) {
        switch self {
        case .entry(let entry):
            fields.add("MESSAGE", entry.message)
            for (name, value) in entry.fields { fields.add(named: name, value) }
        case .transition(let step, let pid): Self.write(step, pid: pid, to: &fields)
        }
    }

    private static func write(_ step: Transition, pid: ProcessID?, to fields: inout JournalEntry) {
        let (from, to, reason) = (step.from.rawValue, step.to.rawValue, step.reason.rawValue)
        fields.beginField("MESSAGE")
        fields.append(step.app.name)
        fields.append(": ")
        fields.append(from)
        fields.append(" → ")
        fields.append(to)
        fields.append(" (")
        fields.append(reason)
        fields.append(")")
        fields.endField()
        fields.add("LIFED_APP", step.app.name)
        if let pid { fields.add("LIFED_PID", UInt64(clamping: pid)) }
        fields.add("LIFED_FROM", word: from)
        fields.add("LIFED_TO", word: to)
        fields.add("LIFED_REASON", word: reason)
        fields.add("LIFED_STATE_USEC", step.stateTime.wholeMicroseconds)
        if let time = step.answerTime { fields.add("LIFED_CALLBACK_USEC", time.wholeMicroseconds) }
    }
}
