/// Why the daemon refuses to let a task or an activity hold an app in the background.
///
/// The list is open: a later daemon may have reasons that are not named here.
public struct RefusalReason: RawRepresentable, Hashable, Sendable {
    /// The word that is sent.
    public let rawValue: String

    /// The reason that this word stands for.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The app has as many tasks and activities as it may have.
    public static let tooManyTasks = RefusalReason(rawValue: "too-many-tasks")
    /// The app's manifest does not declare activities of this kind.
    public static let modeNotDeclared = RefusalReason(rawValue: "mode-not-declared")
    /// Another task or activity of the app has this id.
    public static let duplicateID = RefusalReason(rawValue: "duplicate-id")
    /// The app has used up its time in the background.
    public static let timeIsUp = RefusalReason(rawValue: "time-is-up")
}

/// What the daemon says to an app.
public enum MessageToApp: Equatable, Sendable {
    /// The answer to `hello`: the version that both speak, and who the app is.
    case welcome(version: Int64, appID: String)
    /// A callback, to be answered with `done`.
    case callback(CallbackMessage)
    /// A callback of a later version of the protocol, to be answered with `done`. It is only ever read, never sent.
    case unknownCallback(SequenceNumber)
    /// The task or activity holds the app in the background.
    case granted(AssertionID)
    /// The task or activity does not hold the app in the background.
    case refused(AssertionID, reason: RefusalReason)
    /// The task has to be ended within these milliseconds, counted from when the line was sent.
    case expireTask(AssertionID, deadlineMilliseconds: Int64)
    /// The daemon closes the channel.
    case goodbye(reason: String)

    /// Reads the message that a line holds.
    ///
    /// Throws a `LineError` for a field that is missing or of no use, and for an unknown verb without a `seq`.
    public init(_ line: Line) throws(LineError) {
        if let kind = CallbackKind(rawValue: line.verb) {
            self = .callback(try CallbackMessage(kind, line.fields))
            return
        }
        let fields = line.fields
        switch line.verb {
        case "welcome":
            self = .welcome(version: try fields.requiredNumber("protocol"), appID: try fields.required("app-id"))
        case "granted":
            self = .granted(try fields.requiredAssertionID())
        case "refused":
            let reason = RefusalReason(rawValue: try fields.required("reason"))
            self = .refused(try fields.requiredAssertionID(), reason: reason)
        case "expire-task":
            let deadline = try fields.requiredNumber("deadline-ms")
            self = .expireTask(try fields.requiredAssertionID(), deadlineMilliseconds: deadline)
        case "goodbye":
            self = .goodbye(reason: try fields.required("reason"))
        default:
            guard let sequence = try fields.number(of: "seq") else { throw .unknownVerb(line.verb) }
            self = .unknownCallback(SequenceNumber(rawValue: sequence))
        }
    }

    /// Reads the message of a line that is given without its line feed.
    ///
    /// Throws a `LineError` when the line does not follow the grammar or is not a message.
    public init(parsing bytes: ArraySlice<UInt8>) throws(LineError) {
        try self.init(Line(parsing: bytes))
    }

    /// The line that says this.
    public var line: Line {
        switch self {
        case .welcome(let version, let appID): Line("welcome", [Field("protocol", version), Field("app-id", appID)])
        case .callback(let callback): callback.line
        case .unknownCallback(let sequence): Line("unknown", [Field("seq", sequence.rawValue)])
        case .granted(let id): Line("granted", [Field("id", id.rawValue)])
        case .refused(let id, let reason):
            Line("refused", [Field("id", id.rawValue), Field("reason", reason.rawValue)])
        case .expireTask(let id, let deadline):
            Line("expire-task", [Field("id", id.rawValue), Field("deadline-ms", deadline)])
        case .goodbye(let reason): Line("goodbye", [Field("reason", reason)])
        }
    }

    /// The message as it is sent, with its line feed.
    ///
    /// Throws `LineError.tooLong`, `.tooManyFields` or `.unusableText` when what it has to say does not fit a line.
    public func encoded() throws(LineError) -> [UInt8] {
        try line.encoded()
    }
}
