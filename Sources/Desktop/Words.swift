import ControlAPI
import Glibc
import LifecycleTypes

/// The end of the program: `cannot VERB OBJECT: CAUSE; REMEDY` for users, an exit status of sysexits(3) for scripts.
public struct DesktopFailure: Error, Equatable {
    /// The exit status; 0 if the reader of the output has gone, which needs no message.
    public let status: CInt
    /// The message, printable and on one line.
    public let message: String

    init(_ status: CInt, _ action: String, _ reason: String, remedy: String) {
        self.status = status
        message = "\(action): \(reason)\(remedy.isEmpty ? "" : "; \(remedy)")".printable
    }

    /// Creates the failure of a call that the daemon has declined.
    init(_ error: ControlError, doing action: String) {
        // The daemon's remedy is a sentence.
        let remedy = error.remedy.hasSuffix(".") ? error.remedy.dropLast() : error.remedy[...]
        self.init(EX_UNAVAILABLE, action, error.reason, remedy: remedy.prefix(1).lowercased() + remedy.dropFirst())
    }

    /// Creates the failure of a connection.
    init(_ error: ControlClientError, sockets: [String]) {
        let action = "cannot call lifed"
        switch error {
        case .declined(let error): self.init(error, doing: action)
        case .absent:
            self.init(
                EX_UNAVAILABLE, action,
                "it is not running (no program listens at \(sockets.joined(separator: " or ")))",
                remedy: "start it with 'systemctl --user start lifed' or 'systemctl start lifed'")
        case .notPermitted(let path):
            self.init(
                EX_NOPERM, action, path.map { "not permitted to use \($0)" } ?? "not permitted",
                remedy: "be the daemon's own user, or in the group lifed for the system's daemon")
        case .untrusted(let path, let user):
            self.init(
                EX_NOPERM, action, "\(path) belongs to \(user.map { "user \($0)" } ?? "an unknown user")",
                remedy: "use --socket \(path) to call it nevertheless")
        case .unreachable(let path, let number):
            self.init(EX_UNAVAILABLE, action, "\(path): \(errnoText(number))", remedy: "")
        case .closed: self.init(EX_UNAVAILABLE, action, "it closed the connection", remedy: "")
        case .timedOut: self.init(EX_TEMPFAIL, action, "it does not answer", remedy: "")
        case .callTooLong, .parameterNotTaken, .notUnderstood:
            self.init(
                EX_PROTOCOL, action, "\(error)", remedy: "install lifed-desktop and lifed of the same version")
        case .system(let call, let number): self.init(EX_OSERR, action, "\(call): \(errnoText(number))", remedy: "")
        }
    }
}

/// The standard streams, unbuffered.
public enum Output {
    /// Writes to standard output.
    ///
    /// - Throws: ``DesktopFailure``, with the status 0 if the reader has gone.
    public static func write(_ text: String) throws(DesktopFailure) {
        let error = write(text, to: STDOUT_FILENO)
        guard error != 0 else { return }
        throw DesktopFailure(
            error == EPIPE ? EXIT_SUCCESS : EX_IOERR, "cannot write the result", errnoText(error),
            remedy: "free some space, or write elsewhere")
    }

    /// Writes a message to standard error, and ignores a failure.
    public static func complain(_ message: String) { _ = write("lifed-desktop: \(message)\n", to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: CInt) -> CInt {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest.removeFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

extension String {
    /// The text without the scalars that a terminal may act on.
    var printable: String {
        unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator:
                "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }.joined()
    }
}

extension Follower.Step {
    /// The step as a predicate, after "would".
    var words: String {
        switch self {
        case .find(let key): "find the app of \(key.owner.words)"
        case .use(let use, let apps):
            "report what \(use.words): \(apps.isEmpty ? "nothing" : apps.joined(separator: ", "))"
        case .focus(let app, let item): "bring \(app) to the foreground (\(item.words))"
        case .home: "go home: no window has the focus, or no foreground app is visible"
        case .leave(let item): "ignore a window of no app (\(item.words))"
        }
    }

    /// A dry run prints the step.
    var isShown: Bool {
        if case .find = self { false } else { true }
    }
}

extension Item {
    fileprivate var words: String {
        title.isEmpty ? key.owner.words : "\(key.owner.words), \(title.printable)"
    }
}

extension Item.Owner {
    fileprivate var words: String {
        switch self {
        case .unknown: "no process of this machine"
        case .process(let process), .claimedProcess(let process): "process \(process)"
        case .claimedApp(let id): "app id \(id.printable)"
        }
    }
}

extension Use {
    fileprivate var words: String {
        switch self {
        case .visible: "is visible"
        case .pointed: "has the pointer"
        case .playing: "plays sound"
        case .called, .awaited, .unread, .relaunched, .unfollowed: "is \(rawValue)"
        }
    }

    /// The reason why the configuration lets the daemon suspend an app in spite of the use; nil if it cannot.
    var whyIgnored: String? {
        switch self {
        case .visible: "is visible, and is suspended all the same: lifed.toml says visible = \"ignore\""
        case .playing:
            "plays sound, and is suspended all the same: its manifest has no background mode \"audio\", or lifed.toml says "
                + "playing = \"ignore\""
        case .pointed, .called, .awaited, .unread, .relaunched, .unfollowed: nil
        }
    }
}
