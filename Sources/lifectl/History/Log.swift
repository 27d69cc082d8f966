import CommandLineTable
import ControlAPI
import LifecycleTypes

/// `lifectl log`
enum Log {
    static func run(_ arguments: Arguments) throws(Failure) {
        let options = arguments.options
        var source = HistorySource(arguments, doing: "cannot show the log")
        source.app = arguments[.app]
        source.follows = arguments.has(.follow)
        source.lines = arguments.number(.lines) ?? (source.follows && source.since == nil ? 10 : nil)
        source.isVerbose = arguments.has(.debug)
        try source.read { entry throws(Failure) in
            try options.show(entry) { present in "\(present.history(entry))\n" }
        }
    }
}

extension HistoryEntry {
    /// Creates the entry of an event in the daemon's memory, with the message of the journal.
    init(_ event: HistoryEvent) {
        self.init(
            timeUSec: event.timeUSec, app: event.id, priority: nil, message: Self.message(for: event), event: event)
    }

    private static func message(for event: HistoryEvent) -> String {
        switch event.kind {
        case .transition:
            "\(event.id): \(event.from?.rawValue ?? "?") → \(event.to?.rawValue ?? "?") (\(event.reason.text))"
        case .callbackTimeout: "\(event.id) did not answer \(event.callback ?? "?") in time"
        case .killed: "\(event.id) did not end within its termination timeout, and was killed"
        case .launchFailed: "\(event.id) cannot be launched: \(event.error ?? "?")"
        case .exited:
            switch (event.exitCode, event.signal) {
            case (let code?, _): "\(event.id) ended with status \(code) (\(event.reason.text))"
            case (nil, let signal?): "\(event.id) was ended by \(SignalName.name(signal)) (\(event.reason.text))"
            case (nil, nil): "\(event.id) ended (\(event.reason.text))"
            }
        }
    }
}

extension Presentation {
    /// Returns one line of an entry; with its date, unless that is today.
    func history(_ entry: HistoryEntry, withApp: Bool = true) -> String {
        let day = Instants.day(entry.timeUSec)
        let time = Instants.timeOfDay(entry.timeUSec)
        let moment = day == Instants.day(now) ? time : "\(day) \(time)"
        guard let event = entry.event, event.kind == .transition, let from = event.from, let to = event.to else {
            let message = Text.printable(entry.message)
            return "\(moment)  \(entry.priority.map { style.urgent(message, priority: $0) } ?? message)"
        }
        let app = withApp ? "\(Text.printable(event.id)): " : ""
        let answer = event.answerUSec.map { ", answered after \(Text.milliseconds($0))" } ?? ""
        return "\(moment)  \(app)\(style.state(from)) → \(style.state(to)) (\(event.reason.text)\(answer))"
    }
}
