public import ArgumentParser
public import ControlAPI

struct Launch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Start an app, or bring it to the front if it runs.",
        discussion: """
            Done when the app is active. The user's own daemon launches desktop entries, too, by their ids, with .desktop \
            behind them or not.

            Example: lifectl launch org.example.Clock
            """)

    @Argument(
        help: ArgumentHelp("The id of the app.", valueName: "app"),
        completion: .launchableApps)
    var id: String

    @Flag(help: "Start the app without bringing it to the front.")
    var background = false

    @OptionGroup var waiting: WaitOption
    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot launch \(id)")
        let reply = try session.call(
            .launch, LaunchParameters(id: id, background: background ? true : nil, wait: waiting.goal), waitingFor: id)
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }
}

struct Home: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "home",
        abstract: "Send what is in front away, and bring the home app forward.",
        discussion: "Example: lifectl home")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot go home")
        let reply = try session.call(.home)
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "nothing is in front\n" }
    }
}

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

/// The option of the commands that bring an app to the front.
struct WaitOption: ParsableArguments {
    @Option(
        name: .customLong("wait"),
        help: ArgumentHelp(
            "What to wait for: that the app is active, or that it has answered did-become-active. (default: active)",
            valueName: "goal"))
    var goal: WaitGoal?
}

extension WaitGoal: ExpressibleByArgument {}
