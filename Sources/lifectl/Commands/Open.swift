import ArgumentParser
import ControlAPI

struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a URL or a file with the app that opens such.",
        discussion: """
            The app is launched, or comes to the front. Done when it has taken what it was handed; an app that does not \
            listen gets it as an argument when it is started, and not when it runs already.

            Example: lifectl open https://example.org/
            """)

    @Argument(help: ArgumentHelp("A URL, or the path of a file.", valueName: "url"), completion: .file())
    var target: String

    @Option(
        help: ArgumentHelp("The app to open it with. (default: the one that opens such)", valueName: "app"),
        completion: .launchableApps)
    var app: String?

    @Option(help: ArgumentHelp("Its media type. (default: what the name of a file says)", valueName: "type"))
    var type: String?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !target.isEmpty else { throw ValidationError("open takes a URL, or the path of a file") }
    }

    func run() throws {
        let argument = try URLArgument(target)
        let url = argument.url
        var session = try Session(options, doing: "cannot open \(Text.printable(target))")
        let reply = try session.call(.open, OpenParameters(url: url, id: app, type: type ?? argument.type))
        try options.show(reply, of: "opened \(Text.printable(url))", whatFor: Text.printable(url))
    }
}

extension GlobalOptions {
    /// Shows what became of something that an app was handed; ends with a failure where that was nothing.
    func show(_ reply: OutcomeReply, of success: String, whatFor subject: String) throws {
        let id = Text.printable(reply.app.id)
        let failure = reply.outcome.handlingFailure
        if failure == nil || json { try show(reply) { _ in "\(id) has \(success)\n" } }
        guard let failure else { return }
        throw Failure(status: failure, message: "\(id): \(reply.outcome.words(about: subject))")
    }
}

extension ErrandOutcome {
    /// What lifectl exits with where an app was to take what it was handed; nil for success.
    var handlingFailure: Outcome? {
        switch self {
        case .handled, .newData, .noData: nil
        case .unanswered: .unanswered
        case .lost: .ended
        case .declined, .failed, .notListening: .notHandled
        }
    }

    fileprivate func words(about subject: String) -> String {
        switch self {
        case .handled, .newData, .noData: "has taken \(subject)"
        case .declined: "does not take \(subject)"
        case .unanswered: "did not say in time whether it takes \(subject)"
        case .notListening: "runs without the client library, so it cannot be told of \(subject)"
        case .lost: "ended before it could be told of \(subject)"
        case .failed: "could not do it"
        }
    }
}
