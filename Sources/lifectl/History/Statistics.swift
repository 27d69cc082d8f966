import ControlAPI
import LifecycleTypes

extension Statistics {
    init(_ events: [HistoryEvent], start: Int64?, end: Int64, apps: [App] = []) {
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

    private static func appStatistics(_ lane: Lane, _ steps: [HistoryEvent]) -> AppStatistics {
        let own = steps.filter { $0.id == lane.app }
        return AppStatistics(
            app: lane.app,
            times: lane.spans.reduce(into: [:]) { $0[$1.state.rawValue, default: 0] += $1.endUSec - $1.startUSec },
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

    init(_ steps: [HistoryEvent]) {
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
    private static func isDeparture(_ step: HistoryEvent) -> Bool {
        switch (step.from, step.to) {
        case (.notRunning, .inactive), (.suspended, .background), (.background, .inactive): true
        default: false
        }
    }
}
