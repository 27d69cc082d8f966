import ArgumentParser
import ControlAPI

struct Interrupt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interrupt",
        abstract: "Begin or end an interruption, such as a call or an alert.",
        discussion: """
            The foreground app is inactive until every interruption has ended. Another app that becomes the foreground app \
            meanwhile is inactive, too.

            Example: lifectl interrupt begin --name call
            """,
        subcommands: [Begin.self, End.self])

    struct Name: ParsableArguments {
        @Option(help: ArgumentHelp("Tells several interruptions apart.", valueName: "name"))
        var name: String?

        var parameters: InterruptionParameters { InterruptionParameters(name: name) }

        /// How a sentence speaks of the interruption.
        var words: String { name.map { "the interruption \(Text.printable($0))" } ?? "the interruption" }
    }

    struct Begin: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "begin",
            abstract: "Make what is in front inactive.", discussion: "Example: lifectl interrupt begin --name call")

        @OptionGroup var interruption: Name
        @OptionGroup var options: GlobalOptions

        func run() throws {
            var session = try Session(options, doing: "cannot begin \(interruption.words)")
            let reply = try session.call(.beginInterruption, interruption.parameters)
            try options.show(reply) { _ in "\(interruption.words) has begun\n" }
        }
    }

    struct End: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end",
            abstract: "Make the foreground app active again, or the app that answers the interruption.",
            discussion: "Example: lifectl interrupt end --name call --answer org.example.Phone")

        @OptionGroup var interruption: Name

        @Option(help: ArgumentHelp("Make this app the foreground app in the same step.", valueName: "app"))
        var answer: String?

        @OptionGroup var options: GlobalOptions

        func run() throws {
            var session = try Session(options, doing: "cannot end \(interruption.words)")
            let parameters = EndInterruptionParameters(name: interruption.name, answer: answer)
            let reply = try session.call(.endInterruption, parameters)
            try options.show(reply) { _ in "\(interruption.words) has ended\n" }
        }
    }
}
