import ArgumentParser
import ControlAPI

struct Home: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "home",
        abstract: "Send what is in front away, and bring the home app forward.",
        discussion: "Example: lifectl home")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot go home")
        let reply = try session.call(.home)
        try options.show(reply) { present in reply.app.map(present.sentence) ?? "nothing is in front\n" }
    }
}
