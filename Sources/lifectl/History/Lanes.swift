import ControlAPI
import LifecycleTypes

/// The timeline of the history: a lane for each app, a span for each state, and marks.
struct Lanes: Codable, Equatable {
    struct Span: Codable, Equatable {
        var state: State
        var start: Int64
        var end: Int64
        var reason: String
    }

    struct Mark: Codable, Equatable {
        /// A callback was answered, or not answered in time; or the app was killed or crashed.
        enum Kind: String, Codable {
            case answered, unanswered, killed
        }
        var kind: Kind
        var time: Int64
        var note: String
    }

    struct Lane: Codable, Equatable {
        var app: String
        var spans: [Span]
        var marks: [Mark]
    }

    /// The limits of the lanes, in microseconds since the epoch.
    var start: Int64
    var end: Int64
    var lanes: [Lane]

    /// Returns whether an app with this reason of its end was not asked to end.
    static func isForceful(_ word: String) -> Bool {
        Reason(rawValue: word).map { $0 == .kill || $0.callsForRestoration } ?? false
    }
}

extension Lanes {
    /// Creates the lanes of events, the oldest first.
    ///
    /// - Parameters:
    ///   - start: The start of the lanes; nil for the time of the first event.
    ///   - apps: The apps now. An app without events has had its state since `since`.
    init(_ events: [HistoryEvent], start: Int64?, end: Int64, apps: [App] = []) {
        let begin = start ?? min(events.first?.time ?? end, end)
        var builders: [String: LaneBuilder] = [:]
        for event in events where event.time <= end {
            builders[event.id, default: LaneBuilder(start: begin)].append(event)
        }
        for app in apps where builders[app.id] == nil && app.state != .notRunning {
            builders[app.id] = LaneBuilder(start: begin, app: app)
        }
        self.start = begin
        self.end = max(end, begin)
        lanes = builders.map { $0.value.lane($0.key, end: max(end, begin)) }
            .filter { !$0.spans.isEmpty || !$0.marks.isEmpty }
            .sorted { ($0.spans.first?.start ?? .max, $0.app) < ($1.spans.first?.start ?? .max, $1.app) }
    }
}

private struct LaneBuilder {
    let start: Int64
    var spans: [Lanes.Span] = []
    var marks: [Lanes.Mark] = []
    /// The state after the last event.
    var current: (state: State, since: Int64, reason: String)?
    /// The exit of the main process, until the transition that follows.
    var exit: HistoryEvent?

    init(start: Int64, app: App? = nil) {
        self.start = start
        if let app { current = (app.state, max(start, app.since), app.reason) }
    }

    mutating func append(_ event: HistoryEvent) {
        switch event.kind {
        case .transition: if let from = event.from, let to = event.to { appendTransition(event, from, to) }
        case .callbackOverdue: mark(.unanswered, event, "\(event.reason) was not answered in time")
        case .killed: mark(.killed, event, "outlived its grace")
        case .exited: exit = event
        case .launchFailed: mark(.killed, event, "could not be launched: \(event.reason)")
        }
    }

    private mutating func appendTransition(_ event: HistoryEvent, _ from: State, _ to: State) {
        let time = max(event.time, start)
        // The first event has the state that the app left, and the time that it had been there.
        let since = event.stateTime.map { max(start, event.time &- $0) } ?? start
        close(current ?? (from, since, ""), at: time)
        current = (to, time, event.reason)
        if let callback = event.callback {
            mark(.answered, event, "\(from.rawValue) → \(to.rawValue), answered after \(Text.milliseconds(callback))")
        }
        if to == .notRunning, Lanes.isForceful(event.reason) {
            mark(.killed, event, Words.end(event.reason, exitCode: exit?.exitCode, signal: exit?.signal))
        }
        exit = nil
    }

    private mutating func mark(_ kind: Lanes.Mark.Kind, _ event: HistoryEvent, _ note: String) {
        if event.time >= start { marks.append(Lanes.Mark(kind: kind, time: event.time, note: note)) }
    }

    private mutating func close(_ span: (state: State, since: Int64, reason: String), at end: Int64) {
        guard span.state != .notRunning, end > span.since else { return }
        spans.append(Lanes.Span(state: span.state, start: span.since, end: end, reason: span.reason))
    }

    func lane(_ app: String, end: Int64) -> Lanes.Lane {
        var finished = self
        if let current { finished.close(current, at: end) }
        return Lanes.Lane(app: app, spans: finished.spans, marks: finished.marks)
    }
}
