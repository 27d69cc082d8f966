import ArgumentParser
import ControlAPI

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
