import ArgumentParser
import ControlAPI
import Varlink

// The commands about processes that run already.

struct Adopt: ParsableCommand {
    static let configuration = CommandConfiguration(
        "adopt", "Manage a program that runs already as an app.",
        discussion: """
            The process becomes an app with all that it has started, and stays one until it ends, or until 'lifectl disown'. \
            It has to be yours, or you have to be root. What the session, lifed or this command live in is refused. Its processes that run as another user are left alone; \
            'lifectl explain' names them.
            """, example: "lifectl adopt $(pgrep -n viewer) --id org.example.Viewer")

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
        let pid = process.pid
        let parameters = AdoptParameters(
            pid: pid, id: id, name: name, background: background ? true : nil, byRule: byRule ? true : nil)
        let reply = try options.call(.adopt, parameters, doing: "cannot adopt process \(pid)")
        try options.show(reply, app: reply.app, orFail: "no rule in lifed.toml fits process \(pid)")
    }
}

struct Disown: ParsableCommand {
    static let configuration = CommandConfiguration(
        "disown", "Let go of an app that was adopted; it runs on by itself.",
        discussion: "Its processes are continued if they were stopped.", example: "lifectl disown org.example.Viewer")

    @OptionGroup var app: AppArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let parameters = AppParameters(id: app.id)
        try options.show(.release, parameters, doing: "cannot disown \(app.id)", waitingFor: app.id) { _, _ in
            "\(Text.printable(app.id)) runs on without lifed\n"
        }
    }
}

struct Find: ParsableCommand {
    static let configuration = CommandConfiguration(
        "find", "Say which app a process belongs to.",
        discussion: "Any process of an app will do, not its first alone.", example: "lifectl find 4711")

    @OptionGroup var process: ProcessArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        let pid = process.pid
        let reply = try options.call(
            .findApp, FindAppParameters(pid: pid), doing: "cannot find the app of process \(pid)")
        try options.show(reply, app: reply.app, orFail: "process \(pid) belongs to no app")
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

extension GlobalOptions {
    /// Shows the app of a reply, or fails if the reply has none.
    fileprivate func show(_ reply: some JSONWritable, app: App?, orFail message: String) throws {
        if let app { return try show(reply) { $0.sentence(app) } }
        if json { try show(reply) { _ in "" } }
        throw Failure(status: .noSuchApp, message: message)
    }
}
