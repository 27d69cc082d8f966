public import ArgumentParser
public import ControlAPI

// The commands that decide which apps are in the foreground.

struct Launch: ParsableCommand {
    static let configuration = CommandConfiguration(
        "launch", "Start an app, or bring it to the front if it runs.",
        discussion: """
            Done when the app is active. The user's own daemon launches desktop entries, too, by their ids, with .desktop \
            behind them or not.
            """, example: "lifectl launch org.example.Clock")

    @Argument(help: ArgumentHelp("The id of the app.", valueName: "app"), completion: .launchableApps)
    var id: String

    @Flag(help: "Start the app without bringing it to the front.")
    var background = false

    @OptionGroup var waiting: WaitOption
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let parameters = LaunchParameters(id: id, background: background ? true : nil, wait: waiting.goal)
        try options.show(.launch, parameters, doing: "cannot launch \(id)", waitingFor: id) { $0.sentence($1) }
    }
}

struct Focus: ParsableCommand {
    static let configuration = CommandConfiguration(
        "focus", "Bring a running app, or one of its scenes, to the front.",
        discussion: """
            Done when the app is active, or the scene APP/SCENE is; without a scene, an app that has several shows the ones \
            that were in front last.
            """, example: "lifectl focus org.example.Clock")

    @OptionGroup var app: AppArgument
    @OptionGroup var waiting: WaitOption
    @OptionGroup var options: GlobalOptions

    func run() throws { try AppAction.focus.perform(on: app.id, options.callOptions, wait: waiting.goal) }
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

struct Home: ParsableCommand {
    static let configuration = CommandConfiguration(
        "home", "Send what is in front away, and bring the home app forward.", example: "lifectl home")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        try options.show(.home, doing: "cannot go home") { present, reply in
            reply.app.map(present.sentence) ?? "nothing is in front\n"
        }
    }
}

struct Interrupt: ParsableCommand {
    static let configuration = CommandConfiguration(
        "interrupt", "Begin or end an interruption, such as a call or an alert.",
        discussion: """
            The foreground app is inactive until every interruption has ended. Another app that becomes the foreground app \
            meanwhile is inactive, too.
            """, example: "lifectl interrupt begin --name call", subcommands: [Begin.self, End.self])

    struct Name: ParsableArguments {
        @Option(help: ArgumentHelp("Tells several interruptions apart.", valueName: "name"))
        var name: String?

        /// The interruption in a sentence.
        var words: String { name.map { "the interruption \(Text.printable($0))" } ?? "the interruption" }
    }

    struct Begin: ParsableCommand {
        static let configuration = CommandConfiguration(
            "begin", "Make what is in front inactive.", example: "lifectl interrupt begin --name call")

        @OptionGroup var interruption: Name
        @OptionGroup var options: GlobalOptions

        func run() throws {
            let words = interruption.words
            let parameters = BeginInterruptionParameters(name: interruption.name)
            try options.show(.beginInterruption, parameters, doing: "cannot begin \(words)") { _, _ in
                "\(words) has begun\n"
            }
        }
    }

    struct End: ParsableCommand {
        static let configuration = CommandConfiguration(
            "end", "Make the foreground app active again, or the app that answers the interruption.",
            example: "lifectl interrupt end --name call --answer org.example.Phone")

        @OptionGroup var interruption: Name

        @Option(help: ArgumentHelp("Make this app the foreground app in the same step.", valueName: "app"))
        var answer: String?

        @OptionGroup var options: GlobalOptions

        func run() throws {
            let words = interruption.words
            let parameters = EndInterruptionParameters(name: interruption.name, answer: answer)
            try options.show(.endInterruption, parameters, doing: "cannot end \(words)") { _, _ in
                "\(words) has ended\n"
            }
        }
    }
}
