public import Varlink

// What apps are handed: URLs and activities.

/// What became of something that an app was handed.
public enum ErrandOutcome: String, Codable, Sendable, CaseIterable {
    case handled, declined, unanswered, notListening, lost, newData, noData, failed
}

/// The parameters of Open.
public struct OpenParameters: Codable, Sendable, NamedFields {
    /// What to open.
    public var url: String
    /// Which app; nil for the one that opens such.
    public var id: String?
    /// The media type, where it is known.
    public var type: String?

    /// What to open.
    public init(url: String, id: String? = nil, type: String? = nil) {
        self.url = url
        self.id = id
        self.type = type
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["url", "id", "type"] }
}

/// The parameters of ContinueActivity.
public struct ContinueActivityParameters: Codable, Sendable, NamedFields {
    /// Which app.
    public var id: String
    /// The kind of activity, in reverse-domain notation.
    public var type: String
    /// A JSON text about it.
    public var info: String?

    /// What to go on with.
    public init(id: String, type: String, info: String? = nil) {
        self.id = id
        self.type = type
        self.info = info
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["id", "type", "info"] }
}

/// What the methods that hand something to an app return.
public struct OutcomeReply: Codable, Sendable {
    /// The app, as it was when it was done.
    public var app: App
    /// What became of it.
    public var outcome: ErrandOutcome

    /// Returns an outcome.
    public init(app: App, outcome: ErrandOutcome) {
        self.app = app
        self.outcome = outcome
    }
}

extension ControlMethod where Parameters == OpenParameters, Reply == OutcomeReply {
    /// Hands a URL to the app that opens such.
    public static var open: Self { Self(.open) }
}

extension ControlMethod where Parameters == ContinueActivityParameters, Reply == OutcomeReply {
    /// Hands an app something that was begun elsewhere.
    public static var continueActivity: Self { Self(.continueActivity) }
}

/// The parameters of Wake.
public struct WakeParameters: Codable, Sendable, NamedFields {
    /// Which app.
    public var id: String
    /// What kind of work it is woken for, such as fetch.
    public var kind: String
    /// What there is to know for it.
    public var payload: String?

    /// What to wake an app for.
    public init(id: String, kind: String, payload: String? = nil) {
        self.id = id
        self.kind = kind
        self.payload = payload
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["id", "kind", "payload"] }
}

extension ControlMethod where Parameters == WakeParameters, Reply == OutcomeReply {
    /// Wakes an app for a task.
    public static var wake: Self { Self(.wake) }
}

/// A schedule of an app.
public struct Schedule: Codable, Sendable, Equatable {
    /// The kind of work.
    public var kind: String
    /// The times, as in systemd.time(7).
    public var at: String
    /// When it is due next, in microseconds since the epoch; nil for never again.
    @Nullable public var next: Int64?

    /// A schedule with all that is known of it.
    public init(kind: String, at: String, next: Int64?) {
        self.kind = kind
        self.at = at
        self.next = next
    }
}
