// Why an app is where it is, and what comes next.

/// What can keep an app where it is.
public enum ObstacleKind: String, Codable, Sendable, CaseIterable {
    case start, stop, resume, end, answer, place, backgroundTime, task, activity, work, launch, channel, scenes
    case interruption, concealment, manifest, request, restart, givenUp, stoppedByOther, visible, playing
}

/// Something that keeps an app where it is.
public struct Obstacle: Codable, Sendable, Equatable {
    /// What kind it is.
    public var kind: ObstacleKind
    /// What it is called: a callback, a task, other apps.
    public var names: [String]
    /// Since when, in microseconds since the epoch.
    @Nullable public var since: Int64?
    /// Until when at the latest, in microseconds since the epoch.
    @Nullable public var until: Int64?

    /// An obstacle with all that is known of it.
    public init(kind: ObstacleKind, names: [String] = [], since: Int64? = nil, until: Int64? = nil) {
        self.kind = kind
        self.names = names
        self.since = since
        self.until = until
    }
}

/// What can come next.
public enum ProspectKind: String, Codable, Sendable, CaseIterable {
    case transition, callback, callbackOverdue, tasksExpire, terminate, kill
}

/// Something that happens to an app at the latest, if it stays silent and nobody does anything.
public struct Prospect: Codable, Sendable, Equatable {
    /// What it is.
    public var kind: ProspectKind
    /// When, in microseconds since the epoch.
    public var time: Int64
    /// The state that it leaves.
    @Nullable public var from: State?
    /// The state that it gets to.
    @Nullable public var to: State?
    /// Why, or which callback.
    @Nullable public var reason: String?

    /// A prospect with all that is known of it.
    public init(kind: ProspectKind, time: Int64, from: State? = nil, to: State? = nil, reason: String? = nil) {
        self.kind = kind
        self.time = time
        self.from = from
        self.to = to
        self.reason = reason
    }
}

/// Why an app is where it is, and what comes next.
public struct Explanation: Codable, Sendable, Equatable {
    /// The app.
    public var details: Details
    /// The next state on its way; nil on arrival.
    @Nullable public var next: State?
    /// What keeps it where it is, what it waits for at this moment first.
    public var obstacles: [Obstacle]
    /// What comes next, in this order.
    public var prospects: [Prospect]

    /// An explanation of an app.
    public init(details: Details, next: State?, obstacles: [Obstacle], prospects: [Prospect]) {
        self.details = details
        self.next = next
        self.obstacles = obstacles
        self.prospects = prospects
    }
}

/// What Explain returns.
public struct ExplainReply: Codable, Sendable {
    /// The explanation.
    public var explanation: Explanation

    /// Returns an explanation.
    public init(explanation: Explanation) { self.explanation = explanation }
}

extension ControlMethod where Parameters == AppParameters, Reply == ExplainReply {
    /// Why an app is where it is, and what comes next.
    public static var explain: Self { Self(.explain) }
}
