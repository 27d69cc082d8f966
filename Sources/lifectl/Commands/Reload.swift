import ArgumentParser
import ControlAPI

struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Read the configuration and the manifests again.",
        discussion: "Running apps stay as they are. Problems are printed.\n\nExample: lifectl reload")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot reload the configuration")
        let reply = try session.call(.reload)
        try options.show(reply) { present in present.problems(reply.problems) }
    }
}
