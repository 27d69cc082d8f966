import CommandLineTable
import ControlAPI
import Glibc

/// A failure of a command: one line for the user, one exit status for scripts.
struct Failure: Error, Equatable {
    let status: Outcome

    /// The start of the message, such as `cannot launch org.example.Clock`; nil if the reason contains it.
    let action: String?
    let reason: String

    var message: String { action.map { "\($0): \(reason)" } ?? reason }

    init(status: Outcome, message: String) {
        self.init(status, nil, message)
    }

    init(_ status: Outcome, _ action: String?, _ reason: String) {
        self.status = status
        self.action = action
        self.reason = reason
    }

    static let subscriptionEnded = Failure(
        status: .unavailable, message: "the daemon ended the subscription; is it shutting down?")

    /// Reports an error and exits.
    static func report(_ error: any Error) -> Never {
        if error is ReaderGone { exit(Outcome.success.rawValue) }
        let usage = (error as? UsageError).map { Failure(status: .usage, message: $0.message) }
        let failure = error as? Failure ?? usage ?? Failure(status: .failed, message: "\(error)")
        try? StandardStream.error.write(failure.line + "\n")
        exit(failure.status.rawValue)
    }

    /// The line on standard error. A message of the daemon may have line breaks, which are removed.
    var line: String {
        "lifectl: \(Text.printable(message.split(whereSeparator: \.isNewline).joined(separator: " ")))"
    }
}

/// The error that the reader of standard output has closed it. This is no failure.
struct ReaderGone: Error {}

extension Failure {
    /// Creates the failure of a call.
    init(_ error: ControlClientError, doing action: String, sockets: [String], timeout: Duration?) {
        switch error {
        case .declined(let error): self.init(error)
        case .absent: self.init(.unavailable, action, Self.absence(from: sockets))
        case .notPermitted(let path):
            let remedy = "be root, the daemon's own user or in the group lifed"
            let message =
                path.map { "not permitted to use \($0); \(remedy)" }
                ?? "not permitted; \(remedy), and from within an app only what its manifest's \"control\" allows"
            self.init(.notPermitted, action, message)
        case .untrusted(let path, let user):
            self.init(
                .notPermitted, action,
                "\(path) belongs to \(Text.user(user)), whose daemon could read what you send; "
                    + "--socket \(path) asks it nevertheless")
        case .unreachable(let path, let number):
            self.init(.unavailable, action, "cannot connect to \(path): \(Text.error(number))")
        case .closed: self.init(.unavailable, action, "the daemon closed the connection; is it shutting down?")
        case .timedOut:
            let time = timeout.map { " after \(Text.seconds($0))" } ?? ""
            self.init(.timedOut, action, "no answer\(time); --timeout gives it longer")
        case .callTooLong(let limit):
            self.init(.usage, action, "command and environment are longer than the \(limit) bytes that lifed takes")
        case .parameterNotTaken(let name): self.init(.usage, action, "lifed does not take what was given as \(name)")
        case .notUnderstood(let detail): self.init(.protocol, action, "the answer was not understood: \(detail)")
        case .system(let call, let number): self.init(.failed, action, "\(call): \(Text.error(number))")
        }
    }

    private static func absence(from sockets: [String]) -> String {
        "lifed is not running (nobody listens at \(sockets.joined(separator: " or "))); "
            + "start it with 'systemctl start lifed' or 'lifed --user'"
    }

    init(_ error: ControlError) {
        let status: Outcome =
            switch error.kind {
            case .noSuchApp, .noSuchScene: .noSuchApp
            case .invalidApp: .invalidApp
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
        let subject = error.id.flatMap { $0.isEmpty ? nil : "\($0): " } ?? ""
        // A remedy is a sentence or a clause.
        let separator = error.remedy.first?.isUppercase == true ? ". " : "; "
        let remedy = error.remedy.isEmpty ? "" : separator + error.remedy
        self.init(status: status, message: "\(subject)\(error.reason)\(remedy)")
    }
}

/// The exit status of lifectl. From 64 on the numbers are those of sysexits(3).
enum Outcome: Int32, CaseIterable {
    case success = 0
    case failed = 1
    case refused = 2
    case notRunning = 3
    case superseded = 4
    case notHandled = 5
    case interrupted = 6
    case unanswered = 7
    case ended = 8
    case stopping = 9
    case usage = 64
    case invalidApp = 65
    case noSuchApp = 66
    case ambiguous = 67
    case unavailable = 69
    case launchFailed = 73
    case output = 74
    case timedOut = 75
    case `protocol` = 76
    case notPermitted = 77

    var meaning: String {
        switch self {
        case .success: "done"
        case .failed: "the system did not do its part"
        case .refused: "refused: against the manifest, a limit or another rule"
        case .notRunning: "the app is not running"
        case .superseded: "another request overtook this one"
        case .notHandled: "the app did not take what it was handed, or could not do it"
        case .interrupted: "an interruption began before the app was active"
        case .unanswered: "the app did not answer in time"
        case .ended: "the app ended before the request was done"
        case .stopping: "the daemon is stopping"
        case .ambiguous: "several apps could do it, and none is the default"
        case .usage: "bad usage"
        case .invalidApp: "the id of a new app is taken or not valid"
        case .noSuchApp: "no such app, or no such scene of it"
        case .unavailable: "the daemon is not running, or went away"
        case .launchFailed: "the app could not be started"
        case .output: "the result could not be written"
        case .timedOut: "the daemon did not answer in time"
        case .protocol: "the daemon's answer was not understood"
        case .notPermitted: "not permitted"
        }
    }
}
