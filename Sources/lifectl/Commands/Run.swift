import ArgumentParser
import ControlAPI

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a command as an app, without a manifest.",
        discussion: """
            The command gets this working directory, and of this environment what a program needs to find its user, \
            its language, its files and its display; see ENVIRONMENT in lifectl(1). --setenv adds other variables.

            Example: lifectl run --id org.example.Busy -- sh -c 'while :; do :; done'
            """)

    @Option(help: ArgumentHelp("The id of the app. (default: made from the command's name)", valueName: "id"))
    var id: String?

    @Flag(help: "Start the app without bringing it to the front.")
    var background = false

    @Option(
        name: .customLong("setenv"),
        help: ArgumentHelp(
            "Set a variable of the command's environment, or take it from this one. May be given several times.",
            valueName: "name[=value]"))
    var variables: [String] = []

    @OptionGroup var options: GlobalOptions

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, behind --.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("the command belongs behind --, as in: lifectl run -- sleep 60")
        }
        for variable in variables where variable.utf8.first.map({ $0 == UInt8(ascii: "=") }) ?? true {
            throw ValidationError("--setenv takes NAME or NAME=VALUE, not '\(variable)'")
        }
        guard command[0] != "" else { throw ValidationError("the name of the program is empty") }
    }

    func run() throws {
        var session = try Session(options, doing: "cannot run \(command[0])")
        let reply = try session.call(
            .run,
            RunParameters(
                command: command, id: id,
                environment: RunEnvironment.variables(of: Environment.current, adding: variables),

                workingDirectory: Environment.workingDirectory, background: background ? true : nil))
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "" }
    }
}
