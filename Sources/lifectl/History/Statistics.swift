import ControlAPI
import LifecycleTypes

/// The statistics of the history.
struct Statistics: Codable, Equatable {
    /// The distribution of durations, in microseconds.
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
        /// The number of times that the app became active.
        var activations: Int
        var ends: Int
    }

    /// The limits of the history, in microseconds since the epoch.
    var start: Int64
    var end: Int64
    var apps: [AppFigures]
    /// The time from the start of a switch until the app is active, for an app that ran.
    @Nullable var switches: Spread?
    /// The same for an app that was launched.
    @Nullable var launches: Spread?
    /// The time to the answer of the callbacks that a transition waited for.
    @Nullable var callbacks: Spread?
    /// The number of ends for each reason.
    var ends: [String: Int]
    /// The number of callbacks that were not answered in time.
    var unanswered: Int
    /// The number of apps that ran into the termination timeout.
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
    /// Computes percentiles by the nearest rank; nil for no values.
    init?(_ values: [Int64]) {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        func rank(_ percent: Int) -> Int64 { sorted[max(0, (sorted.count * percent + 99) / 100 - 1)] }
        self.init(
            count: sorted.count, median: rank(50), percentile90: rank(90), percentile99: rank(99),
            longest: sorted[sorted.count - 1])
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

    init(_ steps: [HistoryEvent]) {
        var started: [String: (time: Int64, isLaunch: Bool)] = [:]
        /// The last time at which an app began to resign for another one.
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

    /// Returns whether the transition is the first one to the foreground.
    private static func isDeparture(_ step: HistoryEvent) -> Bool {
        switch (step.from, step.to) {
        case (.notRunning, .inactive), (.suspended, .background), (.background, .inactive): true
        default: false
        }
    }
}
