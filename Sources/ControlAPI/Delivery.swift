public import Varlink

// What apps are handed: URLs and activities.

/// The outcome of a delivery to an app.
public enum ErrandOutcome: String, Codable, Sendable, CaseIterable {
    case handled, declined, unanswered, notListening, lost, newData, noData, failed
}

/// The parameters of Open.
public struct OpenParameters: Codable, Sendable, NamedFields {
    /// The URL.
    public var url: String
    /// The id of the app; nil for the default app of the URL.
    public var id: String?
    /// The media type, if known.
    public var type: String?

    package init(url: String, id: String? = nil, type: String? = nil) {
        (self.url, self.id, self.type) = (url, id, type)
    }
    package static var fieldNames: [String] { ["url", "id", "type"] }
}

/// The parameters of ContinueActivity.
public struct ContinueActivityParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var id: String
    /// The kind of activity, in reverse-domain notation.
    public var type: String
    /// A JSON text about the activity.
    public var info: String?

    package init(id: String, type: String, info: String? = nil) { (self.id, self.type, self.info) = (id, type, info) }
    package static var fieldNames: [String] { ["id", "type", "info"] }
}

/// The reply of the methods that hand something to an app.
public struct OutcomeReply: Codable, Sendable {
    /// The app at the time of the reply.
    public var app: App
    /// The outcome.
    public var outcome: ErrandOutcome

    package init(app: App, outcome: ErrandOutcome) { (self.app, self.outcome) = (app, outcome) }
}

/// The parameters of Wake.
public struct WakeParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var id: String
    /// The kind of work, such as fetch.
    public var kind: String
    /// The payload.
    public var payload: String?

    package init(id: String, kind: String, payload: String? = nil) {
        (self.id, self.kind, self.payload) = (id, kind, payload)
    }
    package static var fieldNames: [String] { ["id", "kind", "payload"] }
}

/// A schedule of background work.
public struct Schedule: Codable, Sendable, Equatable {
    /// The kind of work.
    public var kind: String
    /// The times, as in systemd.time(7).
    public var at: String
    /// The next time, in microseconds since the epoch; nil for never again.
    @Nullable public var next: Int64?

    package init(kind: String, at: String, next: Int64?) { (self.kind, self.at, self.next) = (kind, at, next) }
}
