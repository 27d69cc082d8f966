import ArgumentParser
import ControlAPI

struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show what happened, to one app or to all.",
        discussion: """
            From the journal, with everything that lifed has written there; where the daemon does not write to a journal, \
            from its memory, which has the last 1024 events of all apps. What an app itself has printed is another matter: \
            journalctl -t APP.

            Example: lifectl log org.example.Clock --since 1h --follow
            """)

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
