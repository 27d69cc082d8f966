import LifecycleCore
import Processes
import Systemd

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
