import CommandLineTable
import ControlAPI
import LifecycleTypes
import Varlink

/// `lifectl stats`
enum Stats {
    static func run(_ arguments: Arguments) throws(Failure) {
        let (now, options) = (Instants.now, arguments.options)
        if arguments.has(.openmetrics) { return try showMetrics(options) }
        var source = HistorySource(arguments, doing: "cannot show statistics", now: now)
        let isAll = source.query.since == nil
        source.query.since = source.query.since ?? now - 86_400_000_000
        let events = try source.events()
        let statistics = Statistics(
            events, start: isAll ? nil : source.query.since, end: now, apps: options.runningApps())
        try options.show(statistics) { present in present.statistics(statistics) }
    }

    private static func showMetrics(_ options: CallOptions) throws(Failure) {
        let session = try DaemonConnection(options, doing: "cannot read the metrics")
        let families = try session.stream(MetricsMethod.describe.qualified, of: MetricsDescribeReply.self)
        let metrics = try session.stream(MetricsMethod.list.qualified, of: MetricsListReply.self)
        try StandardStream.output.write(OpenMetrics(families: families, metrics: metrics).text)
    }
}

extension TextPresentation {
    func statistics(_ statistics: Statistics) -> String {
        var text = "from \(Instants.date(statistics.startUSec)) to \(Instants.date(statistics.endUSec))"
        text += " (\(Instants.age(statistics.endUSec - statistics.startUSec)))\n\n"
        text += times(statistics) + "\n" + spreads(statistics)
        let ends = statistics.ends.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let list = ends.map { "\($1) \(Text.printable($0))" }.joined(separator: ", ")
        let totals = properties([
            ("ended", ends.isEmpty ? "no app" : list), ("callbacks not answered", "\(statistics.unanswered)"),
            ("killed after the termination timeout", "\(statistics.killedAfterTimeout)"),
        ])
        return text + "\n" + totals
    }

    private func times(_ statistics: Statistics) -> String {
        guard !statistics.apps.isEmpty else { return "no app ran\n" }
        let states: [AppState] = [.active, .inactive, .background, .suspended]
        let headings = states.map { $0.rawValue.uppercased() } + ["LAUNCHES", "IN USE", "ENDS"]
        var table = Table(["APP"] + headings.map(Table.Column.trailing), style: style)
        for app in statistics.apps {
            let times = states.map { state in
                Table.Cell.text(app.times[state.rawValue].map(Instants.age) ?? "-") { style.state(state, $0) }
            }
            table.add([.text(app.app)] + times + [app.launches, app.activations, app.ends].map { .text(String($0)) })
        }
        return table.text
    }

    private func spreads(_ statistics: Statistics) -> String {
        let headings = ["COUNT", "MEDIAN", "90 %", "99 %", "LONGEST"]
        var table = Table(["LATENCY"] + headings.map(Table.Column.trailing), style: style)
        let rows: [(String, Spread?)] = [
            ("switch to an app that runs", statistics.switches), ("launch into the foreground", statistics.launches),
            ("answer to a callback", statistics.callbacks),
        ]
        for (name, spread) in rows {
            let values = spread.map { [$0.medianUSec, $0.percentile90USec, $0.percentile99USec, $0.longestUSec] }
            let times = values?.map(Text.milliseconds) ?? Array(repeating: "-", count: 4)
            table.add(([name, String(spread?.count ?? 0)] + times).map { .text($0) })
        }
        return table.text
    }
}

/// The daemon's metrics as a text of OpenMetrics 1.0.
struct OpenMetrics {
    var families: [MetricsDescribeReply]
    var metrics: [MetricsListReply]

    /// The text. A family of words becomes a state set, with 1 for the present state and 0 for the others.
    var text: String {
        families.map { family in
            let own = metrics.filter { $0.name == family.name }
            let name = Self.name(family)
            let type: String =
                switch family.type {
                case .counter: "counter"
                case .gauge: "gauge"
                case .string: "stateset"
                }
            return "# TYPE \(name) \(type)\n# HELP \(name) \(Escaping.openMetrics(family.description)).\n"
                + own.map { Self.sample($0, family, name) }.joined()
        }.joined() + "# EOF\n"
    }

    /// Returns the name of a family: without `_total`, which the samples of a counter have.
    private static func name(_ family: MetricsDescribeReply) -> String {
        let base =
            family.name.hasPrefix("org.lifed.") ? "lifed_" + family.name.dropFirst("org.lifed.".count) : family.name
        let name = word(base)
        return family.type == .counter && name.hasSuffix("_total") ? String(name.dropLast("_total".count)) : name
    }

    private static func word(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.isLetterOrDigit ? $0 : "_" }))
    }

    private static func sample(_ metric: MetricsListReply, _ family: MetricsDescribeReply, _ name: String) -> String {
        var labels = (metric.fields?.object ?? []).map { (word($0.name), $0.value.string ?? "") }
        if let object = metric.object { labels.insert(("app", object), at: 0) }
        switch metric.value {
        case .number(let number):
            return line(name + (family.type == .counter ? "_total" : ""), labels, String(number))
        case .string(let word):
            return AppState.allCases.map { state in
                line(name, labels + [(name, state.rawValue)], state.rawValue == word ? "1" : "0")
            }.joined()
        // No family has other values.
        case .null, .bool, .array, .object: return ""
        }
    }

    private static func line(_ name: String, _ labels: [(String, String)], _ value: String) -> String {
        let list = labels.map { "\($0)=\"\(Escaping.openMetrics($1))\"" }.joined(separator: ",")
        return "\(name)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the scalar is an ASCII letter or digit.
    fileprivate var isLetterOrDigit: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }
}

extension Statistics {
    init(_ events: [APIHistoryEvent], start: Int64?, end: Int64, apps: [APIApp] = []) {
        let lanes = Lanes(events, start: start, end: end, apps: apps)
        let steps = events.filter { $0.kind == .transition && $0.timeUSec <= end }
        startUSec = lanes.startUSec
        endUSec = lanes.endUSec
        self.apps = lanes.lanes.map { Self.appStatistics($0, steps) }.sorted { $0.app < $1.app }
        let latencies = Switches(steps).latencies
        switches = Spread(latencies.filter { !$0.isLaunch }.map { $0.time })
        launches = Spread(latencies.filter { $0.isLaunch }.map { $0.time })
        callbacks = Spread(steps.compactMap { $0.answerUSec })
        ends = steps.filter { $0.to == .notRunning }.reduce(into: [:]) { $0[$1.reason.text, default: 0] += 1 }
        unanswered = Int64(events.count { $0.kind == .callbackTimeout })
        killedAfterTimeout = Int64(events.count { $0.kind == .killed })
    }

    private static func appStatistics(_ lane: Lane, _ steps: [APIHistoryEvent]) -> AppStatistics {
        let own = steps.filter { $0.id == lane.app }
        return AppStatistics(
            app: lane.app,
            times: lane.spans.reduce(into: [:]) { $0[$1.state.rawValue, default: 0] &+= $1.endUSec - $1.startUSec },
            launches: Int64(own.count { $0.from == .notRunning }),
            activations: Int64(own.count { $0.to == .active }), ends: Int64(own.count { $0.to == .notRunning }))
    }
}

extension Spread {
    /// Computes percentiles by the nearest rank; nil for no values.
    init?(_ values: [Int64]) {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        func rank(_ percent: Int) -> Int64 { sorted[max(0, (sorted.count * percent + 99) / 100 - 1)] }
        self.init(
            count: Int64(sorted.count), medianUSec: rank(50), percentile90USec: rank(90), percentile99USec: rank(99),
            longestUSec: sorted[sorted.count - 1])
    }
}

/// The latencies of switches, from the first sign of a switch until the app is active.
///
/// The first sign is that the previous app begins to resign, with the time of its answer, or the first transition of this
/// app. The time of the request, and of the kernel to continue a process, is in no history.
struct Switches {
    struct Latency: Equatable {
        var app: String
        var time: Int64
        var isLaunch: Bool
    }

    private(set) var latencies: [Latency] = []

    init(_ steps: [APIHistoryEvent]) {
        var started: [String: (time: Int64, isLaunch: Bool)] = [:]
        /// The last time at which an app began to resign for another one.
        var displaced: Int64?
        for step in steps {
            if step.from == .active, step.to == .inactive, step.reason == .displaced {
                displaced = step.timeUSec - (step.answerUSec ?? 0)
            }
            if Self.isDeparture(step) {
                let time = step.timeUSec - (step.from == .background ? step.answerUSec ?? 0 : 0)
                started[step.id] = started[step.id] ?? (time, step.from == .notRunning)
            }
            guard step.to == .active else {
                if step.to == .suspended || step.to == .terminating || step.to == .notRunning { started[step.id] = nil }
                continue
            }
            if let (time, isLaunch) = started.removeValue(forKey: step.id) {
                let begin = displaced.map { min($0, time) } ?? time
                latencies.append(Latency(app: step.id, time: step.timeUSec - begin, isLaunch: isLaunch))
            }
            displaced = nil
        }
    }

    /// Returns whether the transition is the first one to the foreground.
    private static func isDeparture(_ step: APIHistoryEvent) -> Bool {
        switch step.from {
        case .notRunning, .background: step.to == .inactive
        case .suspended: step.to == .background
        case .inactive, .active, .terminating, nil: false
        }
    }
}
