/// The kinds of callbacks, named after the methods of `UIApplicationDelegate`.
public enum CallbackKind: String, CaseIterable, Sendable {
    /// The first of all.
    case willFinishLaunching = "will-finish-launching"
    /// Launching is almost done.
    case didFinishLaunching = "did-finish-launching"
    /// The app is in front and in use.
    case didBecomeActive = "did-become-active"
    /// The app is about to stop being in use.
    case willResignActive = "will-resign-active"
    /// The app is out of sight.
    case didEnterBackground = "did-enter-background"
    /// The app is about to come to the front.
    case willEnterForeground = "will-enter-foreground"
    /// There is something to open.
    case openURL = "open-url"
    /// Something that was begun elsewhere is to be gone on with.
    case continueActivity = "continue-activity"
    /// There is work to do out of sight.
    case performTask = "perform-task"
    /// Memory is running short.
    case didReceiveMemoryWarning = "memory-warning"
    /// The session is about to be locked.
    case protectedDataWillBecomeUnavailable = "protected-data-will-become-unavailable"
    /// The session was unlocked.
    case protectedDataDidBecomeAvailable = "protected-data-did-become-available"
    /// The clock was set, the time zone is another one, or a day has begun.
    case significantTimeChange = "significant-time-change"
    /// A scene is there, and not yet in front.
    case sceneWillConnect = "scene-will-connect"
    /// A scene is about to come to the front.
    case sceneWillEnterForeground = "scene-will-enter-foreground"
    /// A scene is in front and in use.
    case sceneDidBecomeActive = "scene-did-become-active"
    /// A scene is about to stop being in use.
    case sceneWillResignActive = "scene-will-resign-active"
    /// A scene is out of sight.
    case sceneDidEnterBackground = "scene-did-enter-background"
    /// A scene is gone.
    case sceneDidDisconnect = "scene-did-disconnect"

    /// The kind that a verb stands for, or nil for a verb that is none.
    ///
    /// Spelled out, because the compiler's own lookup among so many words has a dictionary, for which the C library would
    /// need more of the system than libc.
    public init?(rawValue verb: String) {
        guard let kind = Self.allCases.first(where: { $0.rawValue == verb }) else { return nil }
        self = kind
    }

    /// Whether the callback is about one scene of the app, which it names.
    public var isAboutScene: Bool {
        switch self {
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            true
        default:
            false
        }
    }

    /// The fields without which a callback of this kind says nothing.
    fileprivate var requiredKeys: [String] {
        switch self {
        case .openURL: ["url"]
        case .continueActivity: ["type"]
        case .performTask: ["kind"]
        default: []
        }
    }
}

/// The state of an app while it deals with a callback.
public enum ReportedState: String, CaseIterable, Sendable {
    /// In front and in use.
    case active
    /// In front and not in use: launching, interrupted, or about to leave.
    case inactive
    /// Out of sight.
    case background
}

/// A callback on its way to an app.
public struct CallbackMessage: Equatable, Sendable {
    /// What the app is told.
    public var kind: CallbackKind
    /// What the answer refers to.
    public var sequence: SequenceNumber
    /// The time to answer in, in milliseconds from when the line was sent.
    public var deadlineMilliseconds: Int64
    /// The app's state while it deals with the callback.
    public var state: ReportedState
    /// The fields that only this kind of callback has, in the order in which they are sent.
    public var fields: [Field]

    /// A callback of which everything is known.
    public init(
        _ kind: CallbackKind, sequence: SequenceNumber, deadlineMilliseconds: Int64, state: ReportedState,
        fields: [Field] = []
    ) {
        self.kind = kind
        self.sequence = sequence
        self.deadlineMilliseconds = deadlineMilliseconds
        self.state = state
        self.fields = fields
    }

    static let ownKeys = ["seq", "deadline-ms", "state"]

    init(_ kind: CallbackKind, _ fields: [Field]) throws(LineError) {
        guard let state = ReportedState(rawValue: try fields.required("state")) else {
            throw .unknownValue(key: "state")
        }
        for key in kind.requiredKeys { _ = try fields.required(key) }
        if kind.isAboutScene { _ = try fields.requiredScene() }
        self.init(
            kind, sequence: SequenceNumber(rawValue: try fields.requiredNumber("seq")),
            deadlineMilliseconds: try fields.requiredNumber("deadline-ms"), state: state,
            fields: fields.filter { !Self.ownKeys.contains($0.key) })
    }

    var line: Line {
        let own = [
            Field("seq", sequence.rawValue), Field("deadline-ms", deadlineMilliseconds), Field("state", state.rawValue),
        ]
        return Line(kind.rawValue, own + fields)
    }
}

/// What became of a task that an app was told to perform.
public enum TaskResult: String, CaseIterable, Sendable {
    /// There is something new.
    case newData = "new-data"
    /// There is nothing new.
    case noData = "no-data"
    /// It could not be done.
    case failed
}

/// What an app says to a callback, beyond that it has dealt with it.
public enum CallbackAnswer: Hashable, Sendable {
    /// Nothing more. To a launch callback this is yes; to one that brings a URL or an activity it is no, because an app that
    /// does not know the verb says it too.
    case plain
    /// Whether the app can open what it was launched for, or has taken what it was given.
    case handled(Bool)
    /// What became of a task.
    case result(TaskResult)

    init(_ fields: [Field]) throws(LineError) {
        if let word = fields.value(of: "result") {
            guard let result = TaskResult(rawValue: word) else { throw .unknownValue(key: "result") }
            self = .result(result)
            return
        }
        switch fields.value(of: "handled") {
        case nil: self = .plain
        case "yes": self = .handled(true)
        case "no": self = .handled(false)
        default: throw .unknownValue(key: "handled")
        }
    }

    var fields: [Field] {
        switch self {
        case .plain: []
        case .handled(let isHandled): [Field("handled", isHandled ? "yes" : "no")]
        case .result(let result): [Field("result", result.rawValue)]
        }
    }
}
