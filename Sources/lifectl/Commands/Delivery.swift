import ArgumentParser
import ControlAPI
import Glibc

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

struct Continue: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "continue",
        abstract: "Hand an app something that was begun elsewhere.",
        discussion: """
            The app is launched, or comes to the front. Done when it has taken the activity up. With --host, an activity \
            goes on on another machine.

            Example: lifectl continue org.example.Reader --activity org.example.read --info '{"page": 4}'
            """)

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
        var session = try Session(options, doing: "cannot continue \(Text.printable(activity)) in \(app.id)")
        let reply = try session.call(
            .continueActivity, ContinueActivityParameters(id: app.id, type: activity, info: info))
        let subject = Text.printable(activity)
        try options.show(reply, of: "taken up \(subject)", whatFor: subject)
    }
}

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

/// What a person names to be opened: a URL, or a file.
struct URLArgument {
    let url: String
    /// Its media type, where that is no matter of its name: a directory's in the shared MIME database.
    private(set) var type: String?

    /// A file of that name is meant before a URL; one that looks like neither is no URL.
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
        url = "file://" + Self.encoded(unsafe String(cString: path))
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { type = "inode/directory" }
    }

    /// Whether it begins as RFC 3986 says that a URL begins.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        return text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    private static func encoded(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~/".utf8.contains(byte)
        }
    }
}
