import ArgumentParser
import ControlAPI

struct ShowVersion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version of lifectl and, if it answers, of the daemon.",
        discussion: "Example: lifectl version")

    @OptionGroup var options: GlobalOptions

    struct Versions: Codable, Equatable {
        var client: String
        @Nullable var daemon: String?
    }

    func run() throws {
        let versions = Versions(client: Version.current, daemon: daemonVersion())
        try options.show(versions) { _ in
            let daemon = versions.daemon.map(Text.printable) ?? "does not answer"
            return "lifectl \(versions.client)\nlifed   \(daemon)\n"
        }
    }

    /// Nil whatever the reason: the client's version is known without the daemon.
    private func daemonVersion() -> String? {
        do {
            var session = try Session(options, doing: "cannot ask the daemon")
            return try session.call(.getStatus).status.version
        } catch {
            return nil
        }
    }
}
