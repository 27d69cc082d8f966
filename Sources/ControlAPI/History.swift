public import Varlink

// What happened to the apps lately.

/// What can have happened.
public enum HistoryKind: String, Codable, Sendable, CaseIterable {
    case transition, callbackOverdue, killed, exited, launchFailed
}

/// Something that happened to an app.
public struct HistoryEvent: Codable, Sendable, Equatable {
    /// What it is.
    public var kind: HistoryKind
    /// Which app.
    public var id: String
    /// When, in microseconds since the epoch.
    public var time: Int64
    /// The state that it left.
    @Nullable public var from: State?
    /// The state that it got to.
    @Nullable public var to: State?
    /// Why, or which callback; of a launch that failed, its error.
    public var reason: String
    /// Its main process.
    @Nullable public var pid: Int64?
    /// How long it took to answer the callback that was waited for, in microseconds.
    @Nullable public var callback: Int64?
    /// What its main process returned, if it did.
    @Nullable public var exitCode: Int64?
    /// The signal that ended its main process, if one did.
    @Nullable public var signal: Int64?
    /// How long the app had been in the state that it left, in microseconds.
    @Nullable public var stateTime: Int64?

    /// An event with all that is known of it.
    public init(
        kind: HistoryKind, id: String, time: Int64, from: State? = nil, to: State? = nil, reason: String,
        pid: Int64? = nil, callback: Int64? = nil, exitCode: Int64? = nil, signal: Int64? = nil, stateTime: Int64? = nil
    ) {
        self.kind = kind
        self.id = id
        self.time = time
        self.from = from
        self.to = to
        self.reason = reason
        self.pid = pid
        self.callback = callback
        self.exitCode = exitCode
        self.signal = signal
        self.stateTime = stateTime
    }
}

/// The parameters of History.
public struct HistoryParameters: Codable, Sendable, NamedFields {
    /// Which app; nil for all.
    public var id: String?
    /// How many events at most, the last ones; nil for all there are.
    public var limit: Int64?

    /// What to look for.
    public init(id: String? = nil, limit: Int64? = nil) {
        self.id = id
        self.limit = limit
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["id", "limit"] }
}

/// What History returns.
public struct HistoryReply: Codable, Sendable {
    /// Since when nothing is missing, in microseconds since the epoch.
    public var since: Int64
    /// What happened, the oldest first.
    public var events: [HistoryEvent]

    /// Returns events.
    public init(since: Int64, events: [HistoryEvent]) {
        self.since = since
        self.events = events
    }
}

extension ControlMethod where Parameters == HistoryParameters, Reply == HistoryReply {
    /// What happened to the apps lately.
    public static var history: Self { Self(.history) }
}

// MARK: - Explanations

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
