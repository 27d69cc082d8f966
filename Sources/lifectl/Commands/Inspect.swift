import ArgumentParser
import ControlAPI

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List every app that is known.", discussion: "Example: lifectl list --json")

    @Flag(help: "List the processes that serve several apps, such as a session bus, instead of the apps.")
    var helpers = false

    @OptionGroup var options: ListOptions

    func validate() throws {
        guard !(helpers && options.ids) else { throw ValidationError("--helpers and --ids exclude one another") }
    }

    func run() throws {
        var session = try Session(options.every, doing: "cannot list the apps")
        let reply = try session.call(.list)
        if helpers { return try options.every.show(HelpersOnly(helpers: reply.helpers)) { $0.helpers(reply.helpers) } }
        try options.show(reply, ids: reply.apps.map(\.id)) { $0.list(reply.apps) }
    }

    struct HelpersOnly: Codable {
        var helpers: [Helper]
    }
}

struct Apps: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apps",
        abstract: "List what can be launched.",
        discussion: """
            What manifests describe and, with the user's own daemon, the desktop entries of installed programs.

            Example: lifectl apps
            """)

    @Flag(help: "List those too that menus do not show, or that cannot be launched, and why.")
    var all = false

    @OptionGroup var options: ListOptions

    func run() throws {
        var session = try Session(options.every, doing: "cannot list what can be launched")
        let reply = try session.call(.apps, AppsParameters(all: all ? true : nil))
        try options.show(reply, ids: reply.apps.map(\.id)) { $0.launchable(reply.apps, all: all) }
    }
}

extension Presentation {
    func launchable(_ apps: [Launchable], all: Bool) -> String {
        guard !apps.isEmpty else { return "nothing can be launched\n" }
        var columns: [(String, Table.Alignment)] = [("ID", .leading), ("NAME", .leading), ("RUNS", .leading)]
        columns += all ? [("FROM", .leading), ("NOTE", .leading)] : [("FROM", .leading)]
        var table = Table(columns, style: style)
        for app in apps {
            var row = [
                Table.Cell(app.id), Table.Cell(app.name ?? "-"), Table.Cell(app.running ? "yes" : "-"),
                Table.Cell(app.file),
            ]
            if all { row.append(Table.Cell(note(app))) }
            table.add(row)
        }
        return table.text
    }

    private func note(_ app: Launchable) -> String {
        guard let problem = app.problem else { return app.shown ? "-" : "menus leave it out" }
        // The file has a column of its own.
        guard problem.utf8.starts(with: app.file.utf8) else { return problem }
        let rest = String(decoding: problem.utf8.dropFirst(app.file.utf8.count), as: UTF8.self)
        return "cannot be launched: " + rest.drop { $0 == ":" || $0 == " " }
    }
}

struct Find: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Say which app a process belongs to.",
        discussion: """
            Any process of an app will do, not its first alone.

            Example: lifectl find 4711
            """)

    @OptionGroup var process: ProcessArgument
    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot find the app of process \(process.pid)")
        let reply = try session.call(.findApp, FindAppParameters(pid: process.pid))
        guard let app = reply.app else {
            if options.json { try options.show(reply) { _ in "" } }
            throw Failure(status: .noSuchApp, message: "process \(process.pid) belongs to no app")
        }
        try options.show(reply) { present in present.sentence(app) }
    }
}

struct Describe: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show an app in detail with its processes, or the daemon.",
        discussion: "Example: lifectl status org.example.Clock")

    @Argument(
        help: ArgumentHelp("The id of the app; without it, the daemon is shown.", valueName: "app"),
        completion: .knownApps)
    var id: String?

    @OptionGroup var options: GlobalOptions

    func run() throws {
        guard let id else { return try showDaemon() }
        var session = try Session(options, doing: "cannot describe \(id)")
        let reply = try session.call(.describe, AppParameters(id: id))
        try options.show(reply) { present in present.details(reply.details) }
    }

    private func showDaemon() throws {
        var session = try Session(options, doing: "cannot describe the daemon")
        let reply = try session.call(.getStatus)
        try options.show(reply) { present in present.status(reply.status) }
    }
}

struct Monitor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "monitor",
        abstract: "Show every change of every app as it happens.",
        discussion: """
            The present state comes first. Ends with an interrupt (Ctrl-C), or after --timeout seconds without a change.

            Example: lifectl monitor --json
            """)

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot go on watching")
        try session.monitor()
        while let reply = try session.nextChange(timeout: options.call.explicitTimeout) {
            try options.show(reply) { present in present.change(reply) }
        }
        throw Failure(status: .unavailable, message: "the daemon ended the subscription; is it shutting down?")
    }
}

/// The options of a command that lists what has an id.
struct ListOptions: ParsableArguments {
    @Flag(help: "Print the ids only, one a line.")
    var ids = false

    @OptionGroup var every: GlobalOptions

    func validate() throws {
        guard !(ids && every.json) else { throw ValidationError("--ids and --json exclude one another") }
    }

    /// Prints a reply, or the ids of what it lists.
    func show<Reply: Encodable>(
        _ reply: Reply, ids names: [String], whole: (Presentation) -> String
    ) throws {
        try every.show(reply) { present in
            ids ? names.map { "\(Text.printable($0))\n" }.joined() : whole(present)
        }
    }
}
