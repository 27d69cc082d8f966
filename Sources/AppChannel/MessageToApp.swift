/// What the daemon says to an app.
public enum MessageToApp: Equatable, Sendable {
    /// The answer to `hello`: the version that both speak, and who the app is.
    case welcome(version: Int64, appID: String)
    /// A callback, to be answered with `done`.
    case callback(CallbackMessage)
    /// A callback of a later version of the protocol, to be answered with `done`. It is only ever read, never sent.
    case unknownCallback(SequenceNumber)
    /// The task or activity holds the app in the background. Where the time for tasks runs, so many milliseconds are left.
    case granted(AssertionID, timeLeftMilliseconds: Int64? = nil)
    /// The task or activity does not hold the app in the background.
    case refused(AssertionID, reason: RefusalReason)
    /// The task has to be ended within these milliseconds, counted from when the line was sent.
    case expireTask(AssertionID, deadlineMilliseconds: Int64)
    /// The answer to `time-left`: the milliseconds that are left for tasks; nil where the time does not run.
    case timeLeft(milliseconds: Int64?)
    /// The daemon left out a line of the app.
    case mistake(Mistake)
    /// The daemon closes the channel.
    case goodbye(reason: GoodbyeReason)

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
            let milliseconds = try fields.number(of: "time-left-ms")
            self = .granted(try fields.requiredAssertionID(), timeLeftMilliseconds: milliseconds)
        case "refused":
            let reason = RefusalReason(rawValue: try fields.required("reason"))
            self = .refused(try fields.requiredAssertionID(), reason: reason)
        case "expire-task":
            let deadline = try fields.requiredNumber("deadline-ms")
            self = .expireTask(try fields.requiredAssertionID(), deadlineMilliseconds: deadline)
        case "time-left":
            self = .timeLeft(milliseconds: try fields.number(of: "time-left-ms"))
        case "mistake":
            self = .mistake(try Mistake(fields))
        case "goodbye":
            self = .goodbye(reason: GoodbyeReason(rawValue: try fields.required("reason")))
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
        case .granted(let id, let timeLeft): Line("granted", [Field("id", id.rawValue)] + .timeLeft(timeLeft))
        case .refused(let id, let reason):
            Line("refused", [Field("id", id.rawValue), Field("reason", reason.rawValue)])
        case .expireTask(let id, let deadline):
            Line("expire-task", [Field("id", id.rawValue), Field("deadline-ms", deadline)])
        case .timeLeft(let milliseconds): Line("time-left", .timeLeft(milliseconds))
        case .mistake(let mistake): mistake.line
        case .goodbye(let reason): Line("goodbye", [Field("reason", reason.rawValue)])
        }
    }

    /// The message as it is sent, with its line feed.
    ///
    /// Throws `LineError.tooLong`, `.tooManyFields` or `.unusableText` when what it has to say does not fit a line.
    public func encoded() throws(LineError) -> [UInt8] {
        try line.encoded()
    }
}

extension [Field] {
    fileprivate static func timeLeft(_ milliseconds: Int64?) -> [Field] {
        milliseconds.map { [Field("time-left-ms", $0)] } ?? []
    }
}
