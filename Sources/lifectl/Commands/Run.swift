import ArgumentParser
import ControlAPI

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command as an app, without a manifest.",
        discussion: """
            The command gets this environment and this working directory.

            Example: lifectl run --id org.example.Busy -- sh -c 'while :; do :; done'
            """)

    @Option(help: ArgumentHelp("The id of the app. (default: made from the command's name)", valueName: "id"))
    var id: String?

    @Flag(help: "Start the app without bringing it to the front.")
    var background = false

    @OptionGroup var options: GlobalOptions

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, behind --.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("the command belongs behind --, as in: lifectl run -- sleep 60")
        }
        guard command[0] != "" else { throw ValidationError("the name of the program is empty") }
    }

    func run() throws {
        var session = try Session(options, doing: "cannot run \(command[0])")
        let reply = try session.call(
            .run,
            RunParameters(
                command: command, id: id, environment: Environment.current,
                workingDirectory: Environment.workingDirectory, background: background ? true : nil))
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }
}
