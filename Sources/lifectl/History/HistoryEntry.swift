import ControlAPI

/// Something that happened, from the journal or from the daemon's own memory.
struct HistoryEntry: Codable, Equatable {
    /// When, in microseconds since the epoch.
    var time: Int64
    /// Which app, where it is about one.
    @Nullable var app: String?
    /// How urgent it is, as in syslog(3); nil where it comes from the daemon.
    @Nullable var priority: Int?
    /// One line for people.
    var message: String
    /// What it is, where it is something that timelines and figures are made of.
    @Nullable var event: HistoryEvent?
}

extension HistoryEntry {
    /// An event as the daemon tells it, with the words that the journal has for it.
    init(_ event: HistoryEvent) {
        self.init(time: event.time, app: event.id, priority: nil, message: Self.message(for: event), event: event)
    }

    private static func message(for event: HistoryEvent) -> String {
        switch event.kind {
        case .transition:
            "\(event.id): \(event.from?.rawValue ?? "?") → \(event.to?.rawValue ?? "?") (\(event.reason))"
        case .callbackOverdue: "\(event.id) did not answer \(event.reason) in time"
        case .killed: "\(event.id) did not end in its time; it is being killed"
        case .launchFailed: "\(event.id) could not be launched: \(event.reason)"
        case .exited:
            if let code = event.exitCode {
                "\(event.id) ended with status \(code) (\(event.reason))"
            } else if let signal = event.signal {
                "\(event.id) was ended by \(SignalName.name(signal)) (\(event.reason))"
            } else {
                "\(event.id) ended (\(event.reason))"
            }
        }
    }
}

extension Presentation {
    /// One line: when, and what; with the date where that is not today's.
    func history(_ entry: HistoryEntry, withApp: Bool = true) -> String {
        let day = Instants.day(entry.time)
        let time = Instants.timeOfDay(entry.time)
        let moment = day == Instants.day(now) ? time : "\(day) \(time)"
        guard let event = entry.event, event.kind == .transition, let from = event.from, let to = event.to else {
            return "\(moment)  \(urgency(entry))"
        }
        let app = withApp ? "\(Text.printable(event.id)): " : ""
        let answer = event.callback.map { ", answered after \(Text.milliseconds($0))" } ?? ""
        return "\(moment)  \(app)\(style.state(from)) → \(style.state(to)) (\(Text.printable(event.reason))\(answer))"
    }

    private func urgency(_ entry: HistoryEntry) -> String {
        let message = Text.printable(entry.message)
        guard let priority = entry.priority else { return message }
        return style.urgent(message, priority: priority)
    }
}
