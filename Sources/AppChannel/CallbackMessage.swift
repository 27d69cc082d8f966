public import LifecycleTypes

extension Callback {
    /// Creates the callback of a verb; nil for any other verb.
    ///
    /// The compiler's look-up among so many words, `init(rawValue:)`, uses a dictionary, for which the C library would need
    /// more of the system than libc.
    init?(verb: String) {
        guard let callback = Self.allCases.first(where: { $0.rawValue == verb }) else { return nil }
        self = callback
    }

    /// The field without which the callback has no meaning.
    fileprivate var requiredKey: String? {
        if self == .openURL { return "url" }
        if self == .continueActivity { return "type" }
        return self == .performTask ? "kind" : nil
    }
}

/// A callback on its way to an app.
public struct CallbackMessage: Equatable, Sendable {
    /// The callback that the app has to answer.
    public var kind: Callback
    /// The number to which the answer refers.
    public var sequence: SequenceNumber
    /// The time to answer in, in milliseconds from when the line was sent.
    public var deadlineMilliseconds: Int64
    /// The app's state while it deals with the callback.
    public var state: RunningState
    /// The fields that only this kind of callback has, in the order in which they are sent.
    public var fields: [Field]

    /// Creates a callback.
    ///
    /// - Parameters:
    ///   - kind: The callback.
    ///   - sequence: The number to which the answer refers.
    ///   - deadlineMilliseconds: The time to answer in, in milliseconds from when the line is sent.
    ///   - state: The app's state while it handles the callback.
    ///   - fields: The fields that only this kind of callback has, in the order in which they are sent.
    public init(
        _ kind: Callback, sequence: SequenceNumber, deadlineMilliseconds: Int64, state: RunningState,
        fields: [Field] = []
    ) {
        self.kind = kind
        self.sequence = sequence
        self.deadlineMilliseconds = deadlineMilliseconds
        self.state = state
        self.fields = fields
    }

    static let ownKeys = ["seq", "deadline-ms", "state"]

    init(_ kind: Callback, _ fields: [Field]) throws(LineError) {
        let word = try fields.required("state")
        // As in `init(verb:)`: the C library gets no look-up among words.
        guard let state = RunningState.allCases.first(where: { $0.rawValue == word }) else {
            throw .unknownValue(key: "state")
        }
        if let key = kind.requiredKey { _ = try fields.required(key) }
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

extension AppAnswer {
    /// Reads the fields of an answer. An app that does not know the callback gives a plain answer, too.
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
