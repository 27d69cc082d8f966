import CommandLineTable
import ControlAPI
import Glibc

/// A failure of a command: `cannot VERB OBJECT: CAUSE; REMEDY` for users, an exit status for scripts.
struct Failure: Error, Equatable {
    let status: ExitCode
    /// The start of the message, such as `cannot launch org.example.Clock`.
    let action: String
    let reason: String
    /// A clause; empty if the user can do nothing.
    let remedy: String
    /// The id of the app; empty if the failure is about no app.
    let id: String
    /// The qualified name of the error that the daemon has replied; nil for an error of lifectl.
    private let replied: String?
    /// A Boolean value that indicates whether the command only exits with the status, without another message.
    let isSilent: Bool

    init(
        _ status: ExitCode, _ action: String, _ reason: String, id: String = "", remedy: String = "",
        replied: String? = nil
    ) {
        (self.status, self.action, self.reason, self.remedy) = (status, action, reason, remedy)
        (self.id, self.replied, isSilent) = (id, replied, false)
    }

    private init(silent status: ExitCode) {
        (self.status, action, reason, remedy, id, replied, isSilent) = (status, "", "", "", "", nil, true)
    }

    /// The end of a command whose output has no reader any more. This is no failure.
    static let readerGone = Failure(silent: .success)

    /// Fails if a word of the command line is not UTF-8, unless lifectl itself uses the bytes of the word.
    static func requireText(in words: [String]) throws(Failure) {
        let others = Environment.otherArguments
        if let index = others.first(where: { !takesBytes(of: $0 - 1, in: words) }) {
            throw notText(index, doing: readingCommandLine)
        }
    }

    /// Fails if a word of the command line is not UTF-8, for a command that sends all of them to another program.
    static func requireText(doing action: String) throws(Failure) {
        if let index = Environment.otherArguments.first { throw notText(index, doing: action) }
    }

    private static func notText(_ index: Int, doing action: String) -> Failure {
        Failure(
            .invalidData, action, "the argument \(index) is not UTF-8",
            remedy: "rename the file that it names, or write it in UTF-8")
    }

    /// Returns whether a word is the file of `open`, or belongs to the command of `interrupt` or of a completion.
    private static func takesBytes(of index: Int, in words: [String]) -> Bool {
        guard let arguments = try? CommandLineParser.parse(words, of: .lifectl) else { return false }
        switch arguments.verb.name {
        case "open": return words[index] == arguments[.url]
        case "interrupt", "--complete": return index >= words.count - arguments.all(.command).count
        default: return false
        }
    }

    /// Returns the failure of a command for several apps, each of which is reported.
    static func reported(_ status: ExitCode) -> Failure { Failure(silent: status) }

    var message: String {
        let end = remedy.isEmpty ? "" : "; \(remedy)"
        // The reason of an adoption names the action, with more of the process.
        if reason.hasPrefix(action) { return reason + end }
        // The action names the app, as a rule.
        let subject = id.isEmpty || Text.includes(action, id) || Text.includes(reason, id) ? "" : "\(id): "
        return "\(action): \(subject)\(reason)\(end)"
    }

    static let subscriptionEnded = Failure(
        .unavailable, "cannot monitor the apps", "the daemon ended the subscription",
        remedy: "run the command again when the daemon has restarted")

    // MARK: Reports

    /// Reports the failure, and exits with its status.
    func report(isJSON: Bool) -> Never {
        if !isSilent { show(isJSON: isJSON) }
        exit(status.rawValue)
    }

    /// Writes the failure to standard error, and with `--json` to standard output as well.
    func show(isJSON: Bool) {
        try? StandardStream.error.write(line + "\n")
        if isJSON { try? StandardStream.output.write(JSON.line(object)) }
    }

    /// The line on standard error. A message of the daemon may have line breaks, which are removed.
    var line: String { "lifectl: \(Self.onOneLine(message))" }

    var object: CommandFailure {
        CommandFailure(
            error: replied ?? "org.lifed.lifectl.\(status.name)", message: Self.onOneLine(message),
            parameters: ["id": id, "reason": reason, "remedy": remedy].filter { !$0.value.isEmpty })
    }

    private static func onOneLine(_ text: String) -> String {
        Text.printable(text.split(whereSeparator: { $0.isNewline }).joined(separator: " "))
    }
}

extension Failure: VerbFailure {
    fileprivate static let readingCommandLine = "cannot read the command line"

    init(_ usage: UsageError) {
        self.init(.usage, Self.readingCommandLine, usage.cause, remedy: usage.remedy)
    }

    func usage(of arguments: Arguments) -> UsageError {
        guard action == Self.readingCommandLine else { report(isJSON: arguments.has(.json)) }
        return UsageError(reason, remedy: remedy)
    }
}

extension Failure {
    /// Creates the failure of a call.
    init(_ error: ControlClientError, doing action: String, sockets: [String], timeout: Duration?) {
        switch error {
        case .declined(let error): self.init(error, doing: action)
        case .absent:
            self.init(
                .unavailable, action,
                "lifed is not running (no program listens at \(sockets.joined(separator: " or ")))",
                remedy: "start it with 'systemctl start lifed' or 'lifed --user'")
        case .notPermitted(let path?):
            self.init(
                .notPermitted, action, "not permitted to use \(path)",
                remedy: "be root or the daemon's own user, or in the group lifed for the system's daemon")
        case .notPermitted(nil):
            self.init(
                .notPermitted, action, "not permitted",
                remedy: "be root or the daemon's own user, or in the group lifed for the system's daemon; an app may "
                    + "do what \"control\" in its manifest allows")
        case .untrusted(let path, let user):
            self.init(
                .notPermitted, action,
                "\(path) belongs to \(Text.user(user)), whose daemon could read what you send",
                remedy: "use --socket \(path) to call it nevertheless")
        case .unreachable(let path, let number):
            self.init(
                .unavailable, action, "cannot connect to \(path): \(Text.error(number))",
                remedy: "'systemctl status lifed' shows the state of the daemon")
        case .closed:
            self.init(
                .unavailable, action,
                "the daemon closed the connection: it has stopped, or limits.clients or limits.messageBytes of lifed.toml "
                    + "is exceeded",
                remedy: "run the command again when the daemon runs, or raise the limit")
        case .timedOut:
            let time = timeout.map { " within \(Text.seconds($0))" } ?? ""
            self.init(
                .timedOut, action, "the daemon did not answer\(time)", remedy: "allow more time with --timeout")
        case .callTooLong(let limit):
            self.init(
                .usage, action, "command and environment are longer than \(limit) bytes, the limit of lifed",
                remedy: "shorten them")
        case .parameterNotTaken(let name):
            self.init(
                .usage, action, "lifed does not accept the value of \(name)", remedy: Self.limit(of: name))
        case .notUnderstood(let detail):
            self.init(
                .protocol, action, "cannot read the answer of the daemon: \(detail)",
                remedy: "install lifectl and lifed of the same version")
        case .system(let call, let number): self.init(.failed, action, "\(call): \(Text.error(number))")
        }
    }

    /// Returns the limit of a parameter that only the daemon checks.
    private static func limit(of parameter: String) -> String {
        switch parameter {
        case "url", "type", "info", "payload":
            "shorten it: it goes to the app in a line of \(DeliveryLimit.lineBytes) bytes at most, in which a byte that is no "
                + "letter or digit may take three"
        default: "lifectl(1) describes the values"
        }
    }

    init(_ error: ControlError, doing action: String) {
        self.init(
            ExitCode(error.kind), action, error.reason, id: error.id ?? "", remedy: Self.clause(error.remedy),
            replied: "org.lifed.\(error.kind.rawValue)")
    }

    /// Returns a remedy of the daemon as a clause: `Try again.` as `try again`.
    private static func clause(_ remedy: String) -> String {
        let text = remedy.last == "." ? String(remedy.dropLast()) : remedy
        guard let first = text.first, text.dropFirst().first?.isLowercase == true else { return text }
        return first.lowercased() + text.dropFirst()
    }
}

/// The exit status of lifectl, the same for the same fault in every verb. From 64 on the numbers are those of sysexits(3);
/// below 64 are the outcomes of requests, which sysexits(3) does not have.
enum ExitCode: Int32, CaseIterable {
    case success = 0
    case checkFailed = 1
    case refused = 2
    case notRunning = 3
    case superseded = 4
    case notHandled = 5
    case interrupted = 6
    case unanswered = 7
    case ended = 8
    case stopping = 9
    case ambiguous = 10
    case launchFailed = 11
    case noSuchInterruption = 12
    case usage = 64
    case invalidData = 65
    case noSuchApp = 66
    case unavailable = 69
    case failed = 71
    case output = 74
    case timedOut = 75
    case `protocol` = 76
    case notPermitted = 77

    init(_ kind: ControlError.Kind) {
        self =
            switch kind {
            case .noSuchApp, .noSuchScene: .noSuchApp
            case .noSuchInterruption: .noSuchInterruption
            case .invalidApp: .invalidData
            case .ambiguous: .ambiguous
            case .notRunning: .notRunning
            case .refused: .refused
            case .notPermitted: .notPermitted
            case .superseded: .superseded
            case .interrupted: .interrupted
            case .unanswered: .unanswered
            case .ended: .ended
            case .stopping: .stopping
            case .launchFailed: .launchFailed
            case .failed, .subscriptionOverrun: .failed
            }
    }

    /// The name of the error, such as `NoSuchApp`.
    var name: String { words.name }

    /// The text for the help and the manual page.
    var meaning: String { words.meaning }

    private var words: (name: String, meaning: String) {
        switch self {
        case .success: ("Success", "success")
        case .checkFailed: ("CheckFailed", "a check of doctor failed")
        case .refused: ("Refused", "refused by a rule: the manifest, a limit, the session")
        case .notRunning: ("NotRunning", "the app is not running")
        case .superseded: ("Superseded", "a later request changed the target of the app")
        case .notHandled: ("NotHandled", "the app declined what was delivered, or did not do it")
        case .interrupted: ("Interrupted", "an interruption began before the app was active")
        case .unanswered: ("Unanswered", "the app did not answer in time")
        case .ended: ("Ended", "the app ended before the request was done")
        case .stopping: ("Stopping", "the daemon is stopping")
        case .ambiguous: ("Ambiguous", "several apps open the URL, and none is the default")
        case .launchFailed: ("LaunchFailed", "the app, or the command of interrupt, was not launched")
        case .noSuchInterruption: ("NoSuchInterruption", "no interruption of this name is under way")
        case .usage: ("Usage", "the command line is wrong (EX_USAGE)")
        case .invalidData:
            (
                "InvalidData",
                "the id of a new app is taken or not valid, edit or reload found a mistake, or an argument is not UTF-8 (EX_DATAERR)"
            )
        case .noSuchApp: ("NoSuchApp", "no such app, scene, process of an app, or file (EX_NOINPUT)")
        case .unavailable:
            ("Unavailable", "the daemon, or a program that the command needs, does not run (EX_UNAVAILABLE)")
        case .failed: ("Failed", "an operation of the system failed (EX_OSERR)")
        case .output: ("Output", "the result was not written (EX_IOERR)")
        case .timedOut: ("TimedOut", "the daemon did not answer in time (EX_TEMPFAIL)")
        case .protocol: ("Protocol", "the daemon's answer was not understood (EX_PROTOCOL)")
        case .notPermitted: ("NotPermitted", "not permitted (EX_NOPERM)")
        }
    }
}
