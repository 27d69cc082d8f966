public import LifecycleTypes

/// A message of an app to the daemon.
public enum MessageFromApp: Equatable, Sendable {
    /// The app speaks the protocol up to this version. After the end of a channel it names the last callback that it received,
    /// 0 for none; on its first channel it does not.
    case hello(version: Int64, resume: SequenceNumber?)
    /// Answers a callback.
    case done(SequenceNumber, AppAnswer)
    /// The app begins a background task.
    case beginTask(AssertionID, name: String)
    /// The app ends a background task.
    case endTask(AssertionID)
    /// The app begins an activity of a mode that its manifest declares.
    case beginActivity(AssertionID, mode: String)
    /// The app ends an activity.
    case endActivity(AssertionID)
    /// The app requests the time that its tasks have left.
    case timeLeft
    /// The app requests a scene: the scene with this id, or a new one; without an id the daemon names it.
    case openScene(SceneID?, role: String?, info: String?)
    /// The app requests the end of a scene.
    case closeScene(SceneID)
    /// The content that the app gets back with the restored scene; nil for none.
    case sceneInfo(SceneID, info: String?)

    /// Reads the message of a line.
    ///
    /// - Throws: ``LineError`` for an unknown verb, and for a missing or invalid field.
    public init(_ line: Line) throws(LineError) {
        let fields = line.fields
        switch line.verb {
        case "hello":
            let resume = try fields.number(of: "resume").map(SequenceNumber.init(rawValue:))
            self = .hello(version: try fields.requiredNumber("protocol"), resume: resume)
        case "done":
            self = .done(SequenceNumber(rawValue: try fields.requiredNumber("seq")), try AppAnswer(fields))
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
    /// - Throws: ``LineError`` if the line does not follow the grammar or is no message.
    public init(parsing bytes: ArraySlice<UInt8>) throws(LineError) {
        try self.init(Line(parsing: bytes))
    }

    /// The line of the message.
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

    /// Returns the encoded message, with its line feed.
    ///
    /// - Throws: `LineError.tooLong` or `.unusableText` if a name does not fit a line.
    public func encoded() throws(LineError) -> [UInt8] {
        try line.encoded()
    }
}
