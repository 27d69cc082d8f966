import ArgumentParser
import ControlAPI
import LifecycleTypes

struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        "log", "Show what happened, to one app or to all.",
        discussion: """
            From the journal, with everything that lifed has written there; where the daemon does not write to a journal, \
            from its memory, which has the last 1024 events of all apps. What an app itself has printed is another matter: \
            journalctl -t APP.
            """, example: "lifectl log org.example.Clock --since 1h --follow")

    @Argument(
        help: ArgumentHelp("The id of the app; without it, everything is shown.", valueName: "app"),
        completion: .knownApps)
    var id: String?

    @Flag(name: [.short, .long], help: "Go on with what happens from now on.")
    var follow = false

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("How many of the last lines. (default: all; 10 with --follow)", valueName: "number"))
    var lines: Int?

    @Flag(help: "Show also what is for those who look for a mistake.")
    var debug = false

    @OptionGroup var history: HistoryOptions
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if let lines, lines < 0 { throw ValidationError("--lines takes a number of lines") }
    }

    func run() throws {
        var source = HistorySource(options, history, doing: "cannot show the log")
        source.app = id
        source.follows = follow
        source.lines = lines ?? (follow && history.since == nil ? 10 : nil)
        source.isVerbose = debug
        try source.read { entry in
            try options.show(entry) { present in "\(present.history(entry))\n" }
        }
    }
}

extension HistoryEntry {
    /// Creates the entry of an event in the daemon's memory, with the message of the journal.
    init(_ event: HistoryEvent) {
        self.init(timeUSec: event.timeUSec, app: event.id, priority: nil, message: Self.message(for: event), event: event)
    }

    private static func message(for event: HistoryEvent) -> String {
        switch event.kind {
        case .transition:
            "\(event.id): \(event.from?.rawValue ?? "?") → \(event.to?.rawValue ?? "?") (\(event.reason.text))"
        case .callbackTimeout: "\(event.id) did not answer \(event.callback ?? "?") in time"
        case .killed: "\(event.id) did not end in its time; it is being killed"
        case .launchFailed: "\(event.id) could not be launched: \(event.error ?? "?")"
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
