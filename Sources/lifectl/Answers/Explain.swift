import ArgumentParser
import ControlAPI

struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say why an app is where it is, what holds it there, and what comes next and when.",
        discussion: """
            What comes next is what happens at the latest, if the app stays silent and nobody does anything: the daemon's \
            machine goes ahead on a copy of itself, and tells. The last that happened comes from the daemon's memory.

            Example: lifectl explain org.example.Clock
            """)

    @OptionGroup var app: AppArgument

    @Option(help: ArgumentHelp("How much of what happened to show.", valueName: "number"))
    var last = 10

    @OptionGroup var options: GlobalOptions

    struct Result: Codable {
        var explanation: Explanation
        var history: [HistoryEntry]
    }

    func validate() throws {
        guard last >= 0 else { throw ValidationError("--last takes a number of events") }
    }

    func run() throws {
        var session = try Session(options, doing: "cannot explain \(app.id)")
        let explanation = try session.call(.explain, AppParameters(id: app.id)).explanation
        let past = try session.call(.history, HistoryParameters(id: app.id, limit: Int64(last)))
        let result = Result(explanation: explanation, history: past.events.map { HistoryEntry($0) })
        try options.show(result) { present in present.explanation(explanation, past: result.history) }
    }
}
