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
