import ArgumentParser
import ControlAPI

struct Wake: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wake",
        abstract: "Wake an app for work out of sight.",
        discussion: """
            The app is launched if need be, and sleeps again when it is done, after 30 seconds at the latest; one in front \
            stays there. Done when the app has said what became of the work. One that does not listen is only woken.

            Example: lifectl wake org.example.Mail --for fetch
            """)

    @OptionGroup var app: AppArgument

    @Option(name: .customLong("for"), help: ArgumentHelp("The kind of work: a word, such as fetch.", valueName: "kind"))
    var kind: String

    @Option(help: ArgumentHelp("What the app has to know for it.", valueName: "text"))
    var payload: String?

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot wake \(app.id)")
        let reply = try session.call(
            .wake, WakeParameters(id: app.id, kind: kind, payload: payload), waitingFor: app.id)
        let id = Text.printable(reply.app.id)
        let kind = Text.printable(kind)
        if let failure = reply.outcome.failure {
            if options.json { try options.show(reply) { _ in "" } }
            throw Failure(status: failure, message: "\(id): \(reply.outcome.words(for: kind))")
        }
        try options.show(reply) { _ in "\(id) \(reply.outcome.words(for: kind))\n" }
    }
}

extension ErrandOutcome {
    /// What lifectl exits with for it; nil for success.
    fileprivate var failure: Outcome? { self == .notListening ? nil : handlingFailure }

    fileprivate func words(for kind: String) -> String {
        switch self {
        case .handled: "is done with \(kind)"
        case .newData: "is done with \(kind), and has something new"
        case .noData: "is done with \(kind), and has nothing new"
        case .notListening: "is awake; it does not listen, so nobody could tell it what for"
        case .unanswered: "was not done with \(kind) in time"
        case .lost: "ended before it was done with \(kind)"
        case .declined, .failed: "could not do \(kind)"
        }
    }
}
