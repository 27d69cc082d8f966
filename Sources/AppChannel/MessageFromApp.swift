/// What an app says to the daemon.
public enum MessageFromApp: Equatable, Sendable {
    /// The app speaks the protocol up to this version. One that comes back after its channel has ended says which
    /// callback was the last that it received, 0 for none; one that says hello for the first time does not.
    case hello(version: Int64, resume: SequenceNumber?)
    /// The app has dealt with a callback.
    case done(SequenceNumber, CallbackAnswer)
    /// The app needs time in the background, and says what for.
    case beginTask(AssertionID, name: String)
    /// The app no longer needs the time that it asked for.
    case endTask(AssertionID)
    /// The app does something out of sight for as long as it lasts, of a kind that its manifest declares.
    case beginActivity(AssertionID, mode: String)
    /// The activity is over.
    case endActivity(AssertionID)
    /// The app asks how much time its tasks have left.
    case timeLeft
    /// The app wants a scene: a new one, which the daemon names unless the app does, or the one with this id.
    case openScene(SceneID?, role: String?, info: String?)
    /// The app wants to be rid of a scene.
    case closeScene(SceneID)
    /// What is to be given back with a scene when it is restored; nil for nothing.
    case sceneInfo(SceneID, info: String?)

    /// Reads the message that a line holds.
    ///
    /// Throws a `LineError` for an unknown verb, and for a field that is missing or of no use.
    public init(_ line: Line) throws(LineError) {
        let fields = line.fields
        switch line.verb {
        case "hello":
            let resume = try fields.number(of: "resume").map(SequenceNumber.init(rawValue:))
            self = .hello(version: try fields.requiredNumber("protocol"), resume: resume)
        case "done":
            self = .done(SequenceNumber(rawValue: try fields.requiredNumber("seq")), try CallbackAnswer(fields))
        case "begin-task":
            self = .beginTask(try fields.requiredAssertionID(), name: try fields.required("name"))
        case "end-task":
            self = .endTask(try fields.requiredAssertionID())
        case "begin-activity":
            self = .beginActivity(try fields.requiredAssertionID(), mode: try fields.required("mode"))
        case "end-activity":
            self = .endActivity(try fields.requiredAssertionID())
        case "time-left":
            self = .timeLeft
        case "open-scene":
            let role = try fields.optionalRole()
            self = .openScene(try fields.optionalScene(), role: role, info: try fields.optionalInfo())
        case "close-scene":
            self = .closeScene(try fields.requiredScene())
        case "scene-info":
            self = .sceneInfo(try fields.requiredScene(), info: try fields.optionalInfo())
        default:
            throw .unknownVerb(line.verb)
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
        case .hello(let version, resume: nil): Line("hello", [Field("protocol", version)])
        case .hello(let version, let resume?):
            Line("hello", [Field("protocol", version), Field("resume", resume.rawValue)])
        case .done(let sequence, let answer): Line("done", [Field("seq", sequence.rawValue)] + answer.fields)
        case .beginTask(let id, let name): Line("begin-task", [Field("id", id.rawValue), Field("name", name)])
        case .endTask(let id): Line("end-task", [Field("id", id.rawValue)])
        case .beginActivity(let id, let mode): Line("begin-activity", [Field("id", id.rawValue), Field("mode", mode)])
        case .endActivity(let id): Line("end-activity", [Field("id", id.rawValue)])
        case .timeLeft: Line("time-left")
        case .openScene(let scene, let role, let info):
            Line("open-scene", (scene.map { .scene($0) } ?? []) + .role(role) + .info(info))
        case .closeScene(let scene): Line("close-scene", .scene(scene))
        case .sceneInfo(let scene, let info): Line("scene-info", .scene(scene) + .info(info))
        }
    }

    /// The message as it is sent, with its line feed.
    ///
    /// Throws `LineError.tooLong` or `.unusableText` when a name does not fit a line.
    public func encoded() throws(LineError) -> [UInt8] {
        try line.encoded()
    }
}
