import ArgumentParser
import ControlAPI

struct Launch: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Start an app, or bring it to the front if it runs.",
        discussion: "Done when the app is active.\n\nExample: lifectl launch org.example.Clock")

    @OptionGroup var app: AppArgument

    @Flag(help: "Start the app without bringing it to the front.")
    var background = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot launch \(app.id)")
        let reply = try session.call(
            .launch, LaunchParameters(id: app.id, background: background ? true : nil), waitingFor: app.id)
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }
}
