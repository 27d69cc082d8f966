import ArgumentParser
import ControlAPI
import Glibc
import LifecycleTypes

// The commands that hand something to an app: a URL, an activity, work in the background.

struct Open: ParsableCommand {
    static let configuration = CommandConfiguration(
        "open", "Open a URL or a file with the app that opens such.",
        discussion: """
            The app is launched, or comes to the front. Done when it has taken what it was handed; an app that does not \
            listen gets it as an argument when it is started, and not when it runs already.
            """, example: "lifectl open https://example.org/")

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
        let parameters = OpenParameters(url: argument.url, id: app, type: type ?? argument.type)
        let reply = try options.call(.open, parameters, doing: "cannot open \(Text.printable(target))")
        let url = Text.printable(argument.url)
        try options.show(reply, success: "has opened \(url)") { $0.words(about: url) }
    }
}

struct Continue: ParsableCommand {
    static let configuration = CommandConfiguration(
        "continue", "Hand an app something that was begun elsewhere.",
        discussion: """
            The app is launched, or comes to the front. Done when it has taken the activity up. With --host, an activity \
            goes on on another machine.
            """, example: "lifectl continue org.example.Reader --activity org.example.read --info '{\"page\": 4}'")

    @OptionGroup var app: AppArgument

    @Option(help: ArgumentHelp("The kind of activity, in reverse-domain notation.", valueName: "type"))
    var activity: String

    @Option(help: ArgumentHelp("What the app needs to know to go on.", valueName: "json"))
    var info: String?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !activity.isEmpty else { throw ValidationError("--activity takes a kind, such as org.example.read") }
        if let info, !JSON.isText(info) { throw ValidationError("--info takes a JSON text, such as '{\"page\": 4}'") }
    }

    func run() throws {
        let subject = Text.printable(activity)
        let parameters = ContinueActivityParameters(id: app.id, type: activity, info: info)
        let reply = try options.call(.continueActivity, parameters, doing: "cannot continue \(subject) in \(app.id)")
        try options.show(reply, success: "has taken up \(subject)") { $0.words(about: subject) }
    }
}

struct Wake: ParsableCommand {
    static let configuration = CommandConfiguration(
        "wake", "Wake an app for work out of sight.",
        discussion: """
            The app is launched if need be, and sleeps again when it is done, after 30 seconds at the latest; one in front \
            stays there. Done when the app has said what became of the work. One that does not listen is only woken.
            """, example: "lifectl wake org.example.Mail --for fetch")

    @OptionGroup var app: AppArgument

    @Option(name: .customLong("for"), help: ArgumentHelp("The kind of work: a word, such as fetch.", valueName: "kind"))
    var kind: String

    @Option(help: ArgumentHelp("What the app has to know for it.", valueName: "text"))
    var payload: String?

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let parameters = WakeParameters(id: app.id, kind: kind, payload: payload)
        let reply = try options.call(.wake, parameters, doing: "cannot wake \(app.id)", waitingFor: app.id)
        let id = Text.printable(reply.app.id)
        let words = reply.outcome.words(for: Text.printable(kind))
        // To wake an app that is not connected is a success.
        if reply.outcome != .notListening, let failure = reply.outcome.failure {
            if options.json { try options.show(reply) { _ in "" } }
            throw Failure(status: failure, message: "\(id): \(words)")
        }
        try options.show(reply) { _ in "\(id) \(words)\n" }
    }
}

extension GlobalOptions {
    /// Shows the outcome of a delivery, and fails unless the app took what it was handed.
    fileprivate func show(_ reply: OutcomeReply, success: String, otherwise: (EventOutcome) -> String) throws {
        let id = Text.printable(reply.app.id)
        let failure = reply.outcome.failure
        if failure == nil || json { try show(reply) { _ in "\(id) \(success)\n" } }
        if let failure { throw Failure(status: failure, message: "\(id): \(otherwise(reply.outcome))") }
    }
}

extension EventOutcome {
    /// The exit status for a delivery that the app had to take; nil for success.
    fileprivate var failure: Outcome? {
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

/// The argument of `lifectl open`: a URL, or the path of a file.
struct URLArgument {
    let url: String
    /// The media type of a directory, which the shared MIME database does not know by its name; nil otherwise.
    private(set) var type: String?

    /// Prefers a file of that name to a URL.
    ///
    /// - Throws: ``Failure`` if the argument is neither.
    init(_ argument: String) throws(Failure) {
        let isThere = unsafe access(argument, F_OK) == 0
        if !isThere, Self.hasScheme(argument) {
            url = argument
            return
        }
        guard isThere, let path = unsafe realpath(argument, nil) else {
            throw Failure(
                status: .usage,
                message: "\(Text.printable(argument)) is neither a URL nor a file that is there: \(Text.error(errno))")
        }
        defer { unsafe free(path) }
        url = "file://" + Escaping.path(unsafe String(cString: path))
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { type = "inode/directory" }
    }

    /// Returns whether the text begins with a scheme (RFC 3986).
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        return text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}
