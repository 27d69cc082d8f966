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
