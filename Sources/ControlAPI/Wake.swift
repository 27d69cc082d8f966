public import Varlink

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
