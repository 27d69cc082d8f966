internal import LifecycleTypes

/// A message of the daemon to an app.
public enum MessageToApp: Equatable, Sendable {
    /// The answer to `hello`: the version that both speak, and the id of the app.
    case welcome(version: Int64, appID: String)
    /// The answer to `hello` of a process of no app. The channel stays open: `welcome` follows when the daemon adopts the process.
    case unmanaged
    /// A callback, to be answered with `done`.
    case callback(CallbackMessage)
    /// A callback of a later version of the protocol, to be answered with `done`. It is read and never sent.
    case unknownCallback(SequenceNumber)
    /// The daemon accepts the task or activity. If the background time runs, these milliseconds are left.
    case granted(AssertionID, timeLeftMilliseconds: Int64? = nil)
    /// The daemon refuses the task or activity.
    case refused(AssertionID, reason: RefusalReason)
    /// The app must end the task within these milliseconds from the sending of the line.
    case expireTask(AssertionID, deadlineMilliseconds: Int64)
    /// The answer to `time-left`: the milliseconds that are left for tasks; nil if the time does not run.
    case timeLeft(milliseconds: Int64?)
    /// The daemon ignored a line of the app.
    case mistake(Mistake)
    /// The daemon closes the channel.
    case goodbye(reason: GoodbyeReason)

    /// Reads the message of a line.
    ///
    /// - Throws: ``LineError`` for a missing or invalid field, and for an unknown verb without a `seq`.
    public init(_ line: Line) throws(LineError) {
        if let kind = Callback(verb: line.verb) {
            self = .callback(try CallbackMessage(kind, line.fields))
            return
        }
        let fields = line.fields
        switch line.verb {
        case "welcome":
            self = .welcome(version: try fields.requiredNumber("protocol"), appID: try fields.required("app-id"))
        case "unmanaged": self = .unmanaged
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
    /// - Throws: ``LineError`` if the line does not follow the grammar or is no message.
    public init(parsing bytes: ArraySlice<UInt8>) throws(LineError) {
        try self.init(Line(parsing: bytes))
    }

    /// The line of the message.
    public var line: Line {
        switch self {
        case .welcome(let version, let appID): Line("welcome", [Field("protocol", version), Field("app-id", appID)])
        case .unmanaged: Line("unmanaged")
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

    /// Returns the encoded message, with its line feed.
    ///
    /// - Throws: `LineError.tooLong`, `.tooManyFields` or `.unusableText` if the content does not fit a line.
    public func encoded() throws(LineError) -> [UInt8] {
        try line.encoded()
    }
}

extension [Field] {
    fileprivate static func timeLeft(_ milliseconds: Int64?) -> [Field] {
        milliseconds.map { [Field("time-left-ms", $0)] } ?? []
    }
}
