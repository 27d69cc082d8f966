import ArgumentParser
import ControlAPI

struct Adopt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Manage a program that runs already as an app.",
        discussion: """
            The process becomes an app with all that it has started, and stays one until it ends, or until 'lifectl disown'. \
            It has to be yours, or you have to be root. What the session, lifed or this command live in is refused. Its processes that run as another user are left alone; \
            'lifectl explain' names them.

            Example: lifectl adopt $(pgrep -n viewer) --id org.example.Viewer
            """)

    @OptionGroup var process: ProcessArgument

    @Option(
        help: ArgumentHelp(
            "The id of the app; that of a manifest brings its policy. (default: a rule's, or made from the program's name)",
            valueName: "id"))
    var id: String?

    @Option(help: ArgumentHelp("What people call it.", valueName: "name"))
    var name: String?

    @Flag(help: "Leave it out of sight, without bringing it to the front.")
    var background = false

    @Flag(help: "Leave it alone where no rule in lifed.toml fits it.")
    var byRule = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot adopt process \(process.pid)")
        let reply = try session.call(
            .adopt,
            AdoptParameters(
                pid: process.pid, id: id, name: name, background: background ? true : nil, byRule: byRule ? true : nil))
        guard let app = reply.app else {
            if options.json { try options.show(reply) { _ in "" } }
            throw Failure(status: .noSuchApp, message: "no rule in lifed.toml fits process \(process.pid)")
        }
        try options.show(reply) { present in present.sentence(app) }
    }
}

struct Disown: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disown",
        abstract: "Let go of an app that was adopted; it runs on by itself.",
        discussion: "Its processes are continued if they were stopped.\n\nExample: lifectl disown org.example.Viewer")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot disown \(app.id)")
        let reply = try session.call(.disown, AppParameters(id: app.id), waitingFor: app.id)
        try options.show(reply) { _ in "\(Text.printable(app.id)) runs on without lifed\n" }
    }
}

/// The number of a process.
struct ProcessArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The number of the process.", valueName: "pid"),
        completion: .shellCommand("ps -eo pid= 2>/dev/null"))
    var pid: Int64

    func validate() throws {
        guard pid > 0 else { throw ValidationError("the number of a process is 1 or more") }
    }
}
