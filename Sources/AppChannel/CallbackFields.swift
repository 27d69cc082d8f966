internal import LifecycleTypes

// The fields of single callbacks, for the daemon, which writes them, and the libraries, which read them.

/// The fields of the launch callbacks.
public struct LaunchFields: Equatable, Sendable {
    /// The reason of the launch, in the daemon's words.
    public var reason: String
    /// A Boolean value that indicates whether the system ended the app the last time.
    public var restores: Bool
    /// True if the app failed soon after restoring its state, which lifed has set aside.
    public var restoreFailed: Bool
    /// The state in which the app ended the last time, in the daemon's words; nil if it is not known.
    public var previousState: String?
    /// The reason of the previous end, in the daemon's words; nil if it is not known.
    public var previousReason: String?
    /// The time of the previous end, in seconds since the epoch; nil if it is not known.
    public var previousTime: Int64?
    /// The URL that the app was launched to open.
    public var url: String?

    /// Creates the fields.
    ///
    /// - Parameters:
    ///   - reason: The reason of the launch, in the daemon's words.
    ///   - restores: A Boolean value that indicates whether the system ended the app the last time.
    ///   - restoreFailed: True if the app failed soon after restoring its state.
    ///   - previousState: The state in which the app ended the last time; nil if it is not known.
    ///   - previousReason: The reason of the previous end; nil if it is not known.
    ///   - previousTime: The time of the previous end, in seconds since the epoch; nil if it is not known.
    ///   - url: The URL that the app was launched to open; nil for none.
    public init(
        reason: String, restores: Bool = false, restoreFailed: Bool = false, previousState: String? = nil,
        previousReason: String? = nil, previousTime: Int64? = nil, url: String? = nil
    ) {
        self.reason = reason
        self.restores = restores
        self.restoreFailed = restoreFailed
        self.previousState = previousState
        self.previousReason = previousReason
        self.previousTime = previousTime
        self.url = url
    }

    /// Reads the fields of a callback. A missing or invalid value counts as not known.
    public init(_ fields: [Field]) {
        self.init(
            reason: fields.value(of: "reason") ?? Reason.launch.rawValue, restores: fields.value(of: "restore") == "1",
            restoreFailed: fields.value(of: "restore-failed") == "1",
            previousState: fields.value(of: "previous-state"), previousReason: fields.value(of: "previous-reason"),
            previousTime: (try? fields.number(of: "previous-time")) ?? nil, url: fields.value(of: "url"))
    }

    /// The fields to send.
    public var fields: [Field] {
        var fields = [Field("reason", reason)]
        if restores { fields.append(Field("restore", 1)) }
        if restoreFailed { fields.append(Field("restore-failed", 1)) }
        fields.append("previous-state", previousState)
        fields.append("previous-reason", previousReason)
        if let previousTime { fields.append(Field("previous-time", previousTime)) }
        fields.append("url", url)
        return fields
    }
}

/// The fields of `open-url`.
public struct OpenURLFields: Equatable, Sendable {
    /// The URL to open.
    public var url: String
    /// The MIME type, if known.
    public var type: String?
    /// The id of the app that sends the URL, if it was an app.
    public var source: String?

    /// Creates the fields.
    ///
    /// - Parameters:
    ///   - url: The URL to open.
    ///   - type: The MIME type; nil if it is not known.
    ///   - source: The id of the app that sends the URL; nil if it was no app.
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

    /// The fields to send.
    public var fields: [Field] {
        var fields = [Field("url", url)]
        fields.append("type", type)
        fields.append("source", source)
        return fields
    }
}

/// The fields of `continue-activity`.
public struct ContinueActivityFields: Equatable, Sendable {
    /// The kind of activity, in reverse-domain notation.
    public var type: String
    /// A JSON text from the app that began the activity; may be empty.
    public var info: String

    /// Creates the fields.
    ///
    /// - Parameters:
    ///   - type: The kind of activity, in reverse-domain notation.
    ///   - info: A JSON text from the app that began the activity; may be empty.
    public init(type: String, info: String = "") {
        self.type = type
        self.info = info
    }

    /// Reads the fields of a callback.
    public init(_ fields: [Field]) {
        self.init(type: fields.value(of: "type") ?? "", info: fields.value(of: "info") ?? "")
    }

    /// The fields to send.
    public var fields: [Field] { [Field("type", type)] + (info.isEmpty ? [] : [Field("info", info)]) }
}

/// The fields of `perform-task`.
public struct PerformTaskFields: Equatable, Sendable {
    /// The kind of task, such as `fetch`.
    public var kind: String
    /// The payload of the request; may be empty.
    public var payload: String

    /// Creates the fields.
    ///
    /// - Parameters:
    ///   - kind: The kind of task, such as `fetch`.
    ///   - payload: The payload of the request; may be empty.
    public init(kind: String, payload: String = "") {
        self.kind = kind
        self.payload = payload
    }

    /// Reads the fields of a callback.
    public init(_ fields: [Field]) {
        self.init(kind: fields.value(of: "kind") ?? "", payload: fields.value(of: "payload") ?? "")
    }

    /// The fields to send.
    public var fields: [Field] { [Field("kind", kind)] + (payload.isEmpty ? [] : [Field("payload", payload)]) }
}

extension [Field] {
    fileprivate mutating func append(_ key: StaticString, _ value: String?) {
        if let value { append(Field(key, value)) }
    }
}
