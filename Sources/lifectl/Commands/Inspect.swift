import ArgumentParser
import ControlAPI
import Varlink

// The commands that show the apps and the daemon as they are.

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        "list", "List every app that is known.", example: "lifectl list --json")

    @Flag(help: "List the processes that serve several apps, such as a session bus, instead of the apps.")
    var helpers = false

    @OptionGroup var options: ListOptions

    func validate() throws {
        guard !(helpers && options.ids) else { throw ValidationError("--helpers and --ids exclude one another") }
    }

    func run() throws {
        let reply = try options.every.call(.list, doing: "cannot list the apps")
        if helpers { return try options.every.show(HelperList(helpers: reply.helpers)) { $0.helpers(reply.helpers) } }
        try options.show(reply, ids: reply.apps.map(\.id)) { $0.list(reply.apps) }
    }
}

struct Apps: ParsableCommand {
    static let configuration = CommandConfiguration(
        "apps", "List what can be launched.",
        discussion: """
            What manifests describe and, with the user's own daemon, the desktop entries of installed programs.
            """, example: "lifectl apps")

    @Flag(help: "List those too that menus do not show, or that cannot be launched, and why.")
    var all = false

    @OptionGroup var options: ListOptions

    func run() throws {
        let parameters = ListAvailableParameters(all: all ? true : nil)
        let reply = try options.every.call(.listAvailable, parameters, doing: "cannot list what can be launched")
        try options.show(reply, ids: reply.apps.map(\.id)) { $0.launchable(reply.apps, all: all) }
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
    func show(_ reply: some JSONWritable, ids names: [String], whole: (Presentation) -> String) throws {
        try every.show(reply) { present in
            ids ? names.map { "\(Text.printable($0))\n" }.joined() : whole(present)
        }
    }
}

struct Describe: ParsableCommand {
    static let configuration = CommandConfiguration(
        "status", "Show an app in detail with its processes, or the daemon.",
        example: "lifectl status org.example.Clock")

    @Argument(
        help: ArgumentHelp("The id of the app; without it, the daemon is shown.", valueName: "app"),
        completion: .knownApps)
    var id: String?

    @OptionGroup var options: GlobalOptions

    func run() throws {
        guard let id else {
            return try options.show(.getStatus, doing: "cannot describe the daemon") { $0.status($1.status) }
        }
        try options.show(.describe, AppParameters(id: id), doing: "cannot describe \(id)") { $0.details($1.details) }
    }
}

struct Monitor: ParsableCommand {
    static let configuration = CommandConfiguration(
        "monitor", "Show every change of every app as it happens.",
        discussion: """
            The present state comes first. Ends with an interrupt (Ctrl-C), or after --timeout seconds without a change.
            """, example: "lifectl monitor --json")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options.callOptions, doing: "cannot go on watching")
        try session.monitor()
        while let reply = try session.nextChange(timeout: options.callOptions.explicitTimeout) {
            try options.show(reply) { $0.change(reply) }
        }
        throw Failure.subscriptionEnded
    }
}
