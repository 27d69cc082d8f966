import CommandLineTable
import ControlAPI
import Glibc
import LifecycleTypes

/// The commands that hand something to an app: a URL, an activity, work in the background.
enum DeliveryCommands {
    static func open(_ arguments: Arguments) throws(Failure) {
        let target = arguments.required(.url)
        let argument = try URLArgument(target)
        let parameters = OpenParameters(
            url: argument.url, id: arguments[.app], type: arguments[.type] ?? argument.type)
        try arguments.options.deliver(
            .open, parameters, doing: "cannot open \(target)", success: "has opened \(Text.printable(argument.url))")
    }

    static func handOff(_ arguments: Arguments) throws(Failure) {
        let (id, activity) = (arguments.app, arguments.required(.activity))
        let parameters = ContinueActivityParameters(id: id, type: activity, info: arguments[.info])
        try arguments.options.deliver(
            .continueActivity, parameters, doing: "cannot continue \(activity) in \(id)",
            success: "has taken \(Text.printable(activity))")
    }

    static func wake(_ arguments: Arguments) throws(Failure) {
        let (app, kind) = (arguments.app, arguments.required(.kind))
        let parameters = WakeParameters(id: app, kind: kind, payload: arguments[.payload])
        let action = "cannot wake \(app) for \(kind)"
        try arguments.options.show(
            .wake, parameters, doing: action, waitingFor: app,
            check: { reply throws(Failure) in
                // To wake an app that is not connected is a success.
                guard reply.outcome != .notListening else { return }
                try reply.check(action)
            }
        ) { "\(Text.printable($1.app.id)) \($1.outcome.success(Text.printable(kind)))\n" }
    }
}

extension CallOptions {
    /// Delivers something, and fails unless the app takes it.
    fileprivate func deliver<Parameters>(
        _ method: ControlMethod<Parameters, OutcomeReply>, _ parameters: Parameters, doing action: String,
        success: String
    ) throws(Failure) {
        try show(method, parameters, doing: action, check: { reply throws(Failure) in try reply.check(action) }) {
            "\(Text.printable($1.app.id)) \(success)\n"
        }
    }
}

extension OutcomeReply {
    /// Fails if the app did not take what was delivered.
    fileprivate func check(_ action: String) throws(Failure) {
        guard let (status, reason) = outcome.failure else { return }
        throw Failure(
            status, action, "\(app.id) \(reason)", id: app.id, remedy: "'lifectl explain \(app.id)' shows its state")
    }
}

extension EventOutcome {
    /// The exit status and the cause of a delivery that the app did not take; nil for success.
    fileprivate var failure: (ExitCode, String)? {
        switch self {
        case .handled, .newData, .noData: nil
        case .declined: (.notHandled, "declined it")
        case .failed: (.notHandled, "reported a failure")
        case .notListening: (.notHandled, "is not connected, so the daemon cannot tell it")
        case .unanswered: (.unanswered, "did not answer in time")
        case .lost: (.ended, "ended first")
        }
    }

    fileprivate func success(_ kind: String) -> String {
        switch self {
        case .newData: "has done \(kind), and has new data"
        case .noData: "has done \(kind), and has no new data"
        case .notListening: "is resumed; it is not connected, so it was not told of \(kind)"
        case .handled, .declined, .failed, .unanswered, .lost: "has done \(kind)"
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
        let name = Environment.bytes(of: argument)
        let isThere = unsafe access(name, F_OK) == 0
        if !isThere, Self.hasScheme(argument) {
            guard argument.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
                throw Failure(
                    .usage, "cannot open \(argument)", "a URL has no spaces and control characters",
                    remedy: "write %20 for a space")
            }
            url = argument
            return
        }
        guard isThere, let path = unsafe realpath(name, nil) else {
            throw Failure(
                .noSuchApp, "cannot open \(argument)", "it is neither a URL nor a file: \(Text.error(errno))",
                remedy: "give a URL with its scheme, or the path of a file")
        }
        defer { unsafe free(path) }
        url = "file://" + Escaping.path(unsafe Array(UnsafeRawBufferPointer(start: path, count: strlen(path))))
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR) {
            type = "inode/directory"
        }
    }

    /// Returns whether the text begins with a scheme (RFC 3986).
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        return text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }
}
