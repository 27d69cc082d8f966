public import Varlink

// What happened to the apps lately.

/// The kinds of events.
public enum HistoryKind: String, Codable, Sendable, CaseIterable {
    case transition, callbackOverdue, killed, exited, launchFailed
}

/// An event of an app's history.
public struct HistoryEvent: Codable, Sendable, Equatable {
    /// The kind.
    public var kind: HistoryKind
    /// The id of the app.
    public var id: String
    /// The time, in microseconds since the epoch.
    public var time: Int64
    /// The state before.
    @Nullable public var from: State?
    /// The state after.
    @Nullable public var to: State?
    /// The reason; of a callback its name, of a failed launch its error.
    public var reason: String
    /// The main process.
    @Nullable public var pid: Int64?
    /// The time to the answer of the callback that the transition waited for, in microseconds.
    @Nullable public var callback: Int64?
    /// The exit status of the main process, if it exited.
    @Nullable public var exitCode: Int64?
    /// The signal that ended the main process, if any.
    @Nullable public var signal: Int64?
    /// The time that the app was in the state before, in microseconds.
    @Nullable public var stateTime: Int64?

    package init(
        kind: HistoryKind, id: String, time: Int64, from: State? = nil, to: State? = nil, reason: String,
        pid: Int64? = nil, callback: Int64? = nil, exitCode: Int64? = nil, signal: Int64? = nil, stateTime: Int64? = nil
    ) {
        (self.kind, self.id, self.time, self.from, self.to, self.reason) = (kind, id, time, from, to, reason)
        (self.pid, self.callback, self.exitCode) = (pid, callback, exitCode)
        (self.signal, self.stateTime) = (signal, stateTime)
    }
}

/// The parameters of History.
public struct HistoryParameters: Codable, Sendable, NamedFields {
    /// The id of the app; nil for all apps.
    public var id: String?
    /// The number of the last events to return; nil for all.
    public var limit: Int64?

    package init(id: String? = nil, limit: Int64? = nil) { (self.id, self.limit) = (id, limit) }
    package static var fieldNames: [String] { ["id", "limit"] }
}

/// The reply of History.
public struct HistoryReply: Codable, Sendable {
    /// The start, in microseconds since the epoch.
    public var since: Int64
    /// The events, the oldest first.
    public var events: [HistoryEvent]

    package init(since: Int64, events: [HistoryEvent]) { (self.since, self.events) = (since, events) }
}

// MARK: - Explanations

/// The kinds of obstacles.
public enum ObstacleKind: String, Codable, Sendable, CaseIterable {
    case start, stop, resume, end, answer, place, backgroundTime, task, activity, work, launch, channel, scenes
    case interruption, concealment, manifest, request, restart, givenUp, stoppedByOther, visible, playing
}

/// An obstacle to the next transition of an app.
public struct Obstacle: Codable, Sendable, Equatable {
    /// The kind.
    public var kind: ObstacleKind
    /// The names: a callback, a task, other apps.
    public var names: [String]
    /// The start, in microseconds since the epoch.
    @Nullable public var since: Int64?
    /// The latest end, in microseconds since the epoch.
    @Nullable public var until: Int64?

    package init(kind: ObstacleKind, names: [String] = [], since: Int64? = nil, until: Int64? = nil) {
        (self.kind, self.names, self.since, self.until) = (kind, names, since, until)
    }
}

/// The kinds of prospects.
public enum ProspectKind: String, Codable, Sendable, CaseIterable {
    case transition, callback, callbackOverdue, tasksExpire, terminate, kill
}

/// The latest time of a change of an app, if neither the app nor a client does anything.
public struct Prospect: Codable, Sendable, Equatable {
    /// The kind.
    public var kind: ProspectKind
    /// The time, in microseconds since the epoch.
    public var time: Int64
    /// The state before.
    @Nullable public var from: State?
    /// The state after.
    @Nullable public var to: State?
    /// The reason; of a callback its name.
    @Nullable public var reason: String?

    package init(kind: ProspectKind, time: Int64, from: State? = nil, to: State? = nil, reason: String? = nil) {
        (self.kind, self.time, self.from, self.to, self.reason) = (kind, time, from, to, reason)
    }
}

/// The explanation of an app's state, with what comes next.
public struct Explanation: Codable, Sendable, Equatable {
    /// The app.
    public var details: Details
    /// The next state; nil if the app has reached its target.
    @Nullable public var next: State?
    /// The obstacles, the present one first.
    public var obstacles: [Obstacle]
    /// The prospects, the next one first.
    public var prospects: [Prospect]

    package init(details: Details, next: State?, obstacles: [Obstacle], prospects: [Prospect]) {
        (self.details, self.next, self.obstacles, self.prospects) = (details, next, obstacles, prospects)
    }
}

/// The reply of Explain.
public struct ExplainReply: Codable, Sendable {
    /// The explanation.
    public var explanation: Explanation

    package init(explanation: Explanation) { self.explanation = explanation }
}
