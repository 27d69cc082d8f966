// The fields that only some kinds of callbacks have, for who writes them and for who reads them.

/// What the launch callbacks say.
public struct LaunchFields: Equatable, Sendable {
    /// Why the app was launched, in the daemon's words.
    public var reason: String
    /// Whether the system and not a person ended the app the last time.
    public var restores: Bool
    /// The state in which the app ended the last time, in the daemon's words; nil when that is not known.
    public var previousState: String?
    /// What ended the app the last time, in the daemon's words; nil when that is not known.
    public var previousReason: String?
    /// When the app ended the last time, in seconds since the epoch; nil when that is not known.
    public var previousTime: Int64?
    /// What the app was launched to open.
    public var url: String?

    /// The fields of a launch for this reason.
    public init(
        reason: String, restores: Bool = false, previousState: String? = nil, previousReason: String? = nil,
        previousTime: Int64? = nil, url: String? = nil
    ) {
        self.reason = reason
        self.restores = restores
        self.previousState = previousState
        self.previousReason = previousReason
        self.previousTime = previousTime
        self.url = url
    }

    /// Reads the fields of a callback. What is missing or of no use is as if it were not known.
    public init(_ fields: [Field]) {
        self.init(
            reason: fields.value(of: "reason") ?? "launch", restores: fields.value(of: "restore") == "1",
            previousState: fields.value(of: "previous-state"), previousReason: fields.value(of: "previous-reason"),
            previousTime: (try? fields.number(of: "previous-time")) ?? nil, url: fields.value(of: "url"))
    }

    /// The fields as they are sent.
    public var fields: [Field] {
        var fields = [Field("reason", reason)]
        if restores { fields.append(Field("restore", 1)) }
        fields.append("previous-state", previousState)
        fields.append("previous-reason", previousReason)
        if let previousTime { fields.append(Field("previous-time", previousTime)) }
        fields.append("url", url)
        return fields
    }
}

/// What `open-url` says.
public struct OpenURLFields: Equatable, Sendable {
    /// What is to be opened.
    public var url: String
    /// Its MIME type, when that is known.
    public var type: String?
    /// The id of the app that asks for it, when it is one.
    public var source: String?

    /// The fields for a URL.
    public init(url: String, type: String? = nil, source: String? = nil) {
        self.url = url
        self.type = type
        self.source = source
    }

    /// Reads the fields of a callback.
    public init(_ fields: [Field]) {
        self.init(
            url: fields.value(of: "url") ?? "", type: fields.value(of: "type"), source: fields.value(of: "source"))
    }

    /// The fields as they are sent.
    public var fields: [Field] {
        var fields = [Field("url", url)]
        fields.append("type", type)
        fields.append("source", source)
        return fields
    }
}

/// What `continue-activity` says.
public struct ContinueActivityFields: Equatable, Sendable {
    /// What kind of activity it is, in reverse-domain notation.
    public var type: String
    /// A JSON text that only the app's own other instance and the app understand; empty when there is none.
    public var info: String

    /// The fields for an activity.
    public init(type: String, info: String = "") {
        self.type = type
        self.info = info
    }

    /// Reads the fields of a callback.
    public init(_ fields: [Field]) {
        self.init(type: fields.value(of: "type") ?? "", info: fields.value(of: "info") ?? "")
    }

    /// The fields as they are sent.
    public var fields: [Field] { [Field("type", type), Field("info", info)] }
}

/// What `perform-task` says.
public struct PerformTaskFields: Equatable, Sendable {
    /// What the task is, such as `fetch`.
    public var kind: String
    /// What there is to know for it, in words that the app and whoever ordered the task agree on; empty when there is nothing.
    public var payload: String

    /// The fields for a task.
    public init(kind: String, payload: String = "") {
        self.kind = kind
        self.payload = payload
    }

    /// Reads the fields of a callback.
    public init(_ fields: [Field]) {
        self.init(kind: fields.value(of: "kind") ?? "", payload: fields.value(of: "payload") ?? "")
    }

    /// The fields as they are sent.
    public var fields: [Field] { [Field("kind", kind), Field("payload", payload)] }
}

extension [Field] {
    fileprivate mutating func append(_ key: StaticString, _ value: String?) {
        if let value { append(Field(key, value)) }
    }
}
