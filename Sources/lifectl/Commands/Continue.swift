import ArgumentParser
import ControlAPI

struct Continue: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "continue",
        abstract: "Hand an app something that was begun elsewhere.",
        discussion: """
            The app is launched, or comes to the front. Done when it has taken the activity up. With --host, an activity \
            goes on on another machine.

            Example: lifectl continue org.example.Reader --activity org.example.read --info '{"page": 4}'
            """)

    @OptionGroup var app: AppArgument

    @Option(help: ArgumentHelp("The kind of activity, in reverse-domain notation.", valueName: "type"))
    var activity: String

    @Option(help: ArgumentHelp("What the app needs to know to go on.", valueName: "json"))
    var info: String?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !activity.isEmpty else { throw ValidationError("--activity takes a kind, such as org.example.read") }
        if let info, !JSON.isText(info) { throw ValidationError("--info takes a JSON text, such as '{\"page\": 4}'") }
    }

    func run() throws {
        var session = try Session(options, doing: "cannot continue \(Text.printable(activity)) in \(app.id)")
        let reply = try session.call(
            .continueActivity, ContinueActivityParameters(id: app.id, type: activity, info: info))
        let subject = Text.printable(activity)
        try options.show(reply, of: "taken up \(subject)", whatFor: subject)
    }
}
