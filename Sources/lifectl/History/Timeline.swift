import CommandLineTable
import ControlAPI
import Glibc
import LifecycleTypes

/// `lifectl timeline`
enum Timeline {
    static func run(_ arguments: Arguments) throws(Failure) {
        let (now, options) = (Instants.now, arguments.options)
        var source = HistorySource(arguments, doing: "cannot draw the timeline", now: now)
        source.query.since = source.query.since ?? now - 600_000_000
        // An app that has not changed its state is in no history.
        let apps = options.runningApps()
        let lanes = Lanes(try source.events(), start: source.query.since, end: now, apps: apps)
        guard let svg = arguments[.svg] else {
            return try options.show(lanes) { present in
                present.timeline(lanes, width: StandardStream.output.columns ?? 100)
            }
        }
        let picture = TimelineDrawing(lanes: lanes).text
        if svg == "-" { return try StandardStream.output.write(picture) }
        try OutputFile.write(picture, to: svg)
        try StandardStream.output.write("\(Text.printable(svg)): \(lanes.lanes.count) apps\n")
    }
}

extension TextPresentation {
    /// Returns a line for each app, with a character for each piece of time, and a legend.
    func timeline(_ lanes: Lanes, width: Int) -> String {
        guard !lanes.lanes.isEmpty else { return "no events\n" }
        let names = lanes.lanes.map { Text.printable($0.app) }
        let margin = names.map { $0.count }.max() ?? 0
        let columns = max(20, width - margin - 2)
        let scale = TimeScale(start: lanes.startUSec, end: lanes.endUSec, columns: columns)
        let pad = String(repeating: " ", count: margin + 2)
        var text = "\(pad)\(style.heading(scale.labels))\n"
        for (name, lane) in zip(names, lanes.lanes) {
            text += "\(Text.trailing(name, width: margin))  \(bar(lane, scale))\n"
            let marks = self.marks(lane, scale)
            if !marks.isEmpty { text += "\(pad)\(marks)\n" }
        }
        return text + legend(pad)
    }

    private func bar(_ lane: Lane, _ scale: TimeScale) -> String {
        var text = ""
        var column = 0
        while column < scale.columns {
            let state = scale.state(of: lane, in: column)
            var end = column + 1
            while end < scale.columns, scale.state(of: lane, in: end) == state { end += 1 }
            let shown = String(repeating: state.map(Self.shade) ?? " ", count: end - column)
            text += state.map { style.state($0, shown) } ?? shown
            column = end
        }
        return style.isColoured ? text : Text.withoutTrailingSpaces(text)
    }

    private func marks(_ lane: Lane, _ scale: TimeScale) -> String {
        var cells = [MarkKind?](repeating: nil, count: scale.columns)
        for mark in lane.marks {
            let column = scale.column(of: mark.timeUSec)
            if mark.kind.rank > (cells[column]?.rank ?? 0) { cells[column] = mark.kind }
        }
        let used = cells.lastIndex { $0 != nil }.map { $0 + 1 } ?? 0
        return cells[..<used].map { kind in kind.map { style.mark($0) } ?? " " }.joined()
    }

    private func legend(_ pad: String) -> String {
        let states: [AppState] = [.active, .inactive, .background, .suspended, .terminating]
        let shades = states.map { "\(style.state($0, Self.shade($0))) \($0.rawValue)" }
        let marks: [(MarkKind, String)] = [
            (.answered, "callback answered"), (.unanswered, "not answered"), (.killed, "killed"),
        ]
        let signs = marks.map { "\(style.mark($0)) \($1)" }
        return "\(pad)\(shades.joined(separator: "  "))\n\(pad)\(signs.joined(separator: "  "))\n"
    }

    /// Returns the character of a state, so that states differ without colours, too.
    private static func shade(_ state: AppState) -> String {
        switch state {
        case .active: "█"
        case .inactive: "▓"
        case .background: "▒"
        case .suspended: "░"
        case .terminating: "▚"
        case .notRunning: " "
        }
    }
}

/// The scale of a timeline on a terminal.
struct TimeScale {
    let start: Int64
    let end: Int64
    let columns: Int

    private var length: Int64 { max(1, end - start) }

    func column(of time: Int64) -> Int {
        min(columns - 1, max(0, Int(Double(time - start) / Double(length) * Double(columns))))
    }

    /// Returns the state with the largest part of a column; nil if the app did not run.
    func state(of lane: Lane, in column: Int) -> AppState? {
        let from = start + Int64(Double(length) * Double(column) / Double(columns))
        let to = start + Int64(Double(length) * Double(column + 1) / Double(columns))
        var times: [AppState: Int64] = [:]
        for span in lane.spans where span.startUSec < to && span.endUSec > from {
            times[span.state, default: 0] += min(span.endUSec, to) - max(span.startUSec, from)
        }
        // Of equal parts the first state in the order of the cases, so that the output is deterministic.
        let best = AppState.allCases.map { times[$0] ?? 0 }.max() ?? 0
        return best == 0 ? nil : AppState.allCases.first { times[$0] == best }
    }

    /// The times above the columns, at even distances.
    var labels: String {
        var text = ""
        var column = 0
        while true {
            let time = start + Int64(Double(length) * Double(column) / Double(columns))
            let label = Instants.label(time, scale: length)
            guard column + label.count <= columns else { return text }
            text += String(repeating: " ", count: column - text.count) + label
            column += max(12, columns / 4)
        }
    }
}

extension MarkKind {
    /// The rank of a mark among the marks of one column, of which the highest is shown.
    fileprivate var rank: Int {
        switch self {
        case .answered: 1
        case .unanswered: 2
        case .killed: 3
        }
    }
}

extension Lanes {
    /// Returns whether an app with this reason of its end was not asked to end.
    static func isForceful(_ reason: Reason) -> Bool { reason == .kill || reason.callsForRestoration }

    /// Creates the lanes of events, the oldest first.
    ///
    /// - Parameters:
    ///   - start: The start of the lanes; nil for the time of the first event.
    ///   - apps: The apps now. An app without events has had its state since `since`.
    init(_ events: [APIHistoryEvent], start: Int64?, end: Int64, apps: [APIApp] = []) {
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
    var exit: APIHistoryEvent?

    init(start: Int64, app: APIApp? = nil) {
        self.start = start
        if let app { current = (app.state, max(start, app.sinceUSec), app.reason) }
    }

    mutating func append(_ event: APIHistoryEvent) {
        switch event.kind {
        case .transition: if let from = event.from, let to = event.to { appendTransition(event, from, to) }
        case .callbackTimeout: mark(.unanswered, event, "\(event.callback ?? "a callback") was not answered in time")
        case .killed: mark(.killed, event, "reached the termination timeout")
        case .exited: exit = event
        case .launchFailed: mark(.killed, event, "not launched: \(event.error ?? "?")")
        }
    }

    private mutating func appendTransition(_ event: APIHistoryEvent, _ from: AppState, _ to: AppState) {
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

    private mutating func mark(_ kind: MarkKind, _ event: APIHistoryEvent, _ note: String) {
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
