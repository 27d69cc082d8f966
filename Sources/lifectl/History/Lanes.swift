import ControlAPI
import LifecycleTypes

extension Lanes {
    /// Returns whether an app with this reason of its end was not asked to end.
    static func isForceful(_ reason: Reason) -> Bool { reason == .kill || reason.callsForRestoration }

    /// Creates the lanes of events, the oldest first.
    ///
    /// - Parameters:
    ///   - start: The start of the lanes; nil for the time of the first event.
    ///   - apps: The apps now. An app without events has had its state since `since`.
    init(_ events: [HistoryEvent], start: Int64?, end: Int64, apps: [App] = []) {
        let begin = start ?? min(events.first?.timeUSec ?? end, end)
        var builders: [String: LaneBuilder] = [:]
        for event in events where event.timeUSec <= end {
            builders[event.id, default: LaneBuilder(start: begin)].append(event)
        }
        for app in apps where builders[app.id] == nil && app.state != .notRunning {
            builders[app.id] = LaneBuilder(start: begin, app: app)
        }
        startUSec = begin
        endUSec = max(end, begin)
        lanes = builders.map { $0.value.lane($0.key, end: max(end, begin)) }
            .filter { !$0.spans.isEmpty || !$0.marks.isEmpty }
            .sorted { ($0.spans.first?.startUSec ?? .max, $0.app) < ($1.spans.first?.startUSec ?? .max, $1.app) }
    }
}

private struct LaneBuilder {
    let start: Int64
    var spans: [StateSpan] = []
    var marks: [Mark] = []
    /// The state after the last event.
    var current: (state: AppState, since: Int64, reason: Reason?)?
    /// The exit of the main process, until the transition that follows.
    var exit: HistoryEvent?

    init(start: Int64, app: App? = nil) {
        self.start = start
        if let app { current = (app.state, max(start, app.sinceUSec), app.reason) }
    }

    mutating func append(_ event: HistoryEvent) {
        switch event.kind {
        case .transition: if let from = event.from, let to = event.to { appendTransition(event, from, to) }
        case .callbackTimeout: mark(.unanswered, event, "\(event.callback ?? "a callback") was not answered in time")
        case .killed: mark(.killed, event, "reached the termination timeout")
        case .exited: exit = event
        case .launchFailed: mark(.killed, event, "not launched: \(event.error ?? "?")")
        }
    }

    private mutating func appendTransition(_ event: HistoryEvent, _ from: AppState, _ to: AppState) {
        let time = max(event.timeUSec, start)
        // The first event has the state that the app left, and the time that it had been there.
        let since = event.stateUSec.map { max(start, event.timeUSec &- $0) } ?? start
        close(current ?? (from, since, nil), at: time)
        current = (to, time, event.reason)
        if let time = event.answerUSec {
            mark(.answered, event, "\(from.rawValue) → \(to.rawValue), answered after \(Text.milliseconds(time))")
        }
        if to == .notRunning, let reason = event.reason, Lanes.isForceful(reason) {
            mark(.killed, event, Words.end(reason, exitCode: exit?.exitCode, signal: exit?.signal))
        }
        exit = nil
    }

    private mutating func mark(_ kind: MarkKind, _ event: HistoryEvent, _ note: String) {
        if event.timeUSec >= start { marks.append(Mark(kind: kind, timeUSec: event.timeUSec, note: note)) }
    }

    private mutating func close(_ span: (state: AppState, since: Int64, reason: Reason?), at end: Int64) {
        guard span.state != .notRunning, end > span.since else { return }
        spans.append(StateSpan(state: span.state, startUSec: span.since, endUSec: end, reason: span.reason))
    }

    func lane(_ app: String, end: Int64) -> Lane {
        var finished = self
        if let current { finished.close(current, at: end) }
        return Lane(app: app, spans: finished.spans, marks: finished.marks)
    }
}
