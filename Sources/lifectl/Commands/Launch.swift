import ArgumentParser
import ControlAPI

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
