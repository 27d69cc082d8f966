import ArgumentParser
import ControlAPI

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
