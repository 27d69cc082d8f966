import ArgumentParser
import ControlAPI

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
