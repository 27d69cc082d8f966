import ControlAPI
import LifecycleTypes

/// Figures made of history.
struct Statistics: Codable, Equatable {
    /// How the values of something are spread, in microseconds.
    struct Spread: Codable, Equatable {
        var count: Int
        var median: Int64
        var percentile90: Int64
        var percentile99: Int64
        var longest: Int64
    }

    struct AppFigures: Codable, Equatable {
        var app: String
        /// The time in each state, in microseconds.
        var times: [String: Int64]
        var launches: Int
        /// How often it came to the front and was in use.
        var activations: Int
        var ends: Int
    }

    /// What the figures are of, in microseconds since the epoch.
    var start: Int64
    var end: Int64
    var apps: [AppFigures]
    /// From the beginning of a switch until the app is active, for one that ran; nil where there was none.
    @Nullable var switches: Spread?
    /// The same for an app that was launched for it.
    @Nullable var launches: Spread?
    /// How long callbacks took to be answered, those that a change of state waited for.
    @Nullable var callbacks: Spread?
    /// How often apps have ended, by reason.
    var ends: [String: Int]
    /// How many callbacks were not answered in time.
    var unanswered: Int
    /// How many apps outlived their grace.
    var killedAfterGrace: Int
}

extension Statistics {
    init(_ events: [HistoryEvent], start: Int64?, end: Int64, apps: [App] = []) {
        let lanes = Lanes(events, start: start, end: end, apps: apps)
        let steps = events.filter { $0.kind == .transition && $0.time <= end }
        self.start = lanes.start
        self.end = lanes.end
        self.apps = lanes.lanes.map { Self.figures($0, steps) }.sorted { $0.app < $1.app }
        let latencies = Switches(steps).latencies
        switches = Spread(latencies.filter { !$0.isLaunch }.map(\.time))
        launches = Spread(latencies.filter(\.isLaunch).map(\.time))
        callbacks = Spread(steps.compactMap(\.callback))
        ends = steps.filter { $0.to == .notRunning }.reduce(into: [:]) { $0[$1.reason, default: 0] += 1 }
        unanswered = events.count { $0.kind == .callbackOverdue }
        killedAfterGrace = events.count { $0.kind == .killed }
    }

    private static func figures(_ lane: Lanes.Lane, _ steps: [HistoryEvent]) -> AppFigures {
        let own = steps.filter { $0.id == lane.app }
        return AppFigures(
            app: lane.app,
            times: lane.spans.reduce(into: [:]) { $0[$1.state.rawValue, default: 0] += $1.end - $1.start },
            launches: own.count { $0.from == .notRunning }, activations: own.count { $0.to == .active },
            ends: own.count { $0.to == .notRunning })
    }
}

extension Statistics.Spread {
    /// By the nearest rank; nil for no values.
    init?(_ values: [Int64]) {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        func rank(_ percent: Int) -> Int64 { sorted[max(0, (sorted.count * percent + 99) / 100 - 1)] }
        self.init(
            count: sorted.count, median: rank(50), percentile90: rank(90), percentile99: rank(99),
            longest: sorted[sorted.count - 1])
    }
}

/// How long it took until an app was active, from the first sign of it.
///
/// The first sign is that the app before begins to leave (its answer's time counted in), or that this one takes its first
/// step out of where it was. What goes before that, the request on its way and the kernel continuing a process, is in no
/// history.
struct Switches {
    struct Latency: Equatable {
        var app: String
        var time: Int64
        var isLaunch: Bool
    }

    private(set) var latencies: [Latency] = []

    init(_ steps: [HistoryEvent]) {
        var started: [String: (time: Int64, isLaunch: Bool)] = [:]
        /// When somebody last began to leave the front for another app.
        var displaced: Int64?
        for step in steps {
            if step.from == .active, step.to == .inactive, step.reason == Reason.displaced.rawValue {
                displaced = step.time - (step.callback ?? 0)
            }
            if Self.isDeparture(step) {
                let time = step.time - (step.from == .background ? step.callback ?? 0 : 0)
                started[step.id] = started[step.id] ?? (time, step.from == .notRunning)
            }
            guard step.to == .active else {
                if step.to == .suspended || step.to == .terminating || step.to == .notRunning { started[step.id] = nil }
                continue
            }
            if let (time, isLaunch) = started.removeValue(forKey: step.id) {
                let begin = displaced.map { min($0, time) } ?? time
                latencies.append(Latency(app: step.id, time: step.time - begin, isLaunch: isLaunch))
            }
            displaced = nil
        }
    }

    /// Whether the step is the first on a way to the front.
    private static func isDeparture(_ step: HistoryEvent) -> Bool {
        switch (step.from, step.to) {
        case (.notRunning, .inactive), (.suspended, .background), (.background, .inactive): true
        default: false
        }
    }
}
