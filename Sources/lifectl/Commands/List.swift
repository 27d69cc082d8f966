import ArgumentParser
import ControlAPI

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List every app that is known.", discussion: "Example: lifectl list --json")

    @OptionGroup var options: ListOptions

    func run() throws {
        var session = try Session(options.every, doing: "cannot list the apps")
        let reply = try session.call(.list)
        try options.show(reply, ids: reply.apps.map(\.id)) { $0.list(reply.apps) }
    }
}
