import CommandLineTable
import ControlAPI
import Glibc
import LifecycleTypes

/// The commands that hand something to an app: a URL, an activity, work in the background.
enum Delivery {
    static func open(_ arguments: Arguments) throws {
        let target = arguments.required(.url)
        guard !target.isEmpty else { throw arguments.usage("open takes a URL, or the path of a file") }
        let argument = try URLArgument(target)
        let parameters = OpenParameters(
            url: argument.url, id: arguments[.app], type: arguments[.type] ?? argument.type)
        let reply = try arguments.options.call(.open, parameters, doing: "cannot open \(Text.printable(target))")
        let url = Text.printable(argument.url)
        try arguments.options.show(reply, success: "has opened \(url)") { $0.words(about: url) }
    }

    static func continueActivity(_ arguments: Arguments) throws {
        let (id, activity) = (arguments.app, arguments.required(.activity))
        let subject = Text.printable(activity)
        let parameters = ContinueActivityParameters(id: id, type: activity, info: arguments[.info])
        let reply = try arguments.options.call(
            .continueActivity, parameters, doing: "cannot continue \(subject) in \(id)")
        try arguments.options.show(reply, success: "has taken up \(subject)") { $0.words(about: subject) }
    }

    static func wake(_ arguments: Arguments) throws {
        let (app, kind, options) = (arguments.app, arguments.required(.kind), arguments.options)
        let parameters = WakeParameters(id: app, kind: kind, payload: arguments[.payload])
        let reply = try options.call(.wake, parameters, doing: "cannot wake \(app)", waitingFor: app)
        let id = Text.printable(reply.app.id)
        let words = reply.outcome.words(for: Text.printable(kind))
        // To wake an app that is not connected is a success.
        if reply.outcome != .notListening, let failure = reply.outcome.failure {
            if options.isJSON { try options.show(reply) { _ in "" } }
            throw Failure(status: failure, message: "\(id): \(words)")
        }
        try options.show(reply) { _ in "\(id) \(words)\n" }
    }
}

extension CallOptions {
    /// Shows the outcome of a delivery, and fails unless the app took what it was handed.
    fileprivate func show(_ reply: OutcomeReply, success: String, otherwise: (EventOutcome) -> String) throws {
        let id = Text.printable(reply.app.id)
        let failure = reply.outcome.failure
        if failure == nil || isJSON { try show(reply) { _ in "\(id) \(success)\n" } }
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
