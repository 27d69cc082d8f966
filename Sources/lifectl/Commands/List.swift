import ArgumentParser
import ControlAPI

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List every app that is known.", discussion: "Example: lifectl list --json")

    @Flag(help: "Print the ids only, one a line.")
    var ids = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !(ids && options.json) else { throw ValidationError("--ids and --json exclude one another") }
    }

    func run() throws {
        var session = try Session(options, doing: "cannot list the apps")
        let reply = try session.call(.list)
        try options.show(reply) { present in
            ids ? reply.apps.map { "\(Text.printable($0.id))\n" }.joined() : present.list(reply.apps)
        }
    }
}
