/// An event that happens to an app at the latest, if the app stays silent and no request comes.
public struct Prospect: Sendable, Equatable {
    /// The event.
    public enum Event: Sendable, Equatable {
        /// The state changes.
        case transition(from: AppState, to: AppState, Reason)
        /// The app is sent a callback.
        case callback(Callback)
        /// The time to answer the callback is over.
        case callbackOverdue(Callback)
        /// The background tasks expire.
        case tasksExpire
        /// SIGTERM.
        case terminate
        /// SIGKILL.
        case kill
    }

    /// The instant.
    public let instant: Instant
    /// The event.
    public let event: Event
}

extension Engine {
    /// The number of deadlines of all apps that a forecast looks ahead: one may lead to the next for ever.
    static let forecastLimit = 256
    /// The number of events of a forecast, for a reader.
    static let prospectLimit = 8

    /// Returns what will happen to the app, in this order. Deadlines pass, no app says anything or ends by itself, and the
    /// kernel does what it is asked for. So each instant is the latest; an app that answers is there before.
    package func forecast(of id: AppID) -> [Prospect] {
        guard let app = knownApps.index(of: id) else { return [] }
        var future = Future(core: self, app: app)
        future.confirmPendingOperations()
        for _ in 0..<Self.forecastLimit where future.prospects.count < Self.prospectLimit {
            guard future.passDeadline() else { break }
        }
        return Array(future.prospects.prefix(Self.prospectLimit))
    }
}

/// A copy of the core that runs ahead, with a kernel that never fails.
private struct Future {
    var core: Engine
    let app: AppIndex
    var prospects: [Prospect] = []

    /// Confirms the operations that the kernel was asked for.
    mutating func confirmPendingOperations() {
        for app in core.knownApps.sortedIndexes {
            switch core.knownApps[app].phase {
            case .spawning: give(.outcome(app, .spawned))
            case .stopping, .suspended(isConfirmed: false): give(.outcome(app, .stopped))
            case .resuming: give(.outcome(app, .resumed))
            case .notRunning, .running, .suspended, .terminating: break
            }
        }
    }

    /// Passes the earliest deadline; returns whether there was one.
    mutating func passDeadline() -> Bool {
        guard let deadline = core.nextDeadline else { return false }
        give(.tick, at: max(deadline, core.now))
        return true
    }

    private mutating func give(_ input: Input, at instant: Instant? = nil) {
        var inputs = [input]
        while let next = inputs.popLast() {
            let ready = core.handle(next, at: instant ?? core.now)
            for event in events(of: ready) where prospects.last?.event != event || event != .tasksExpire {
                prospects.append(Prospect(instant: core.now, event: event))
            }
            for operation in ready.operations {
                if let outcome = Self.outcome(of: operation) { inputs.insert(outcome, at: 0) }
            }
        }
    }

    /// Returns what a kernel reports that does what it is asked for. No app acts on SIGTERM: only its time-out is certain.
    private static func outcome(of operation: Ready.Operation) -> Input? {
        switch operation {
        case .spawn(let app): .outcome(app, .spawned)
        case .stop(let app): .outcome(app, .stopped)
        case .resume(let app): .outcome(app, .resumed)
        case .kill(let app): .outcome(app, .exited(.signal(9), othersLeft: false))
        case .terminate, .measureMemory, .markMemory, .readMemory: nil
        }
    }

    private func events(of ready: Ready) -> [Prospect.Event] {
        let steps: [Prospect.Event?] = ready.announcements.map { announcement in
            switch announcement {
            case .app(let step) where step.index == app: .transition(from: step.from, to: step.to, step.reason)
            case .decision(.answerOverdue(_, let callback), of: app): .callbackOverdue(callback)
            case .app, .scene, .decision: nil
            }
        }
        let messages: [Prospect.Event?] = ready.messages.map { message in
            switch message {
            case .deliver(app, let delivery): .callback(delivery.callback)
            case .expireTask(app, _, _): .tasksExpire
            case .deliver, .answerAssertion, .tellTimeLeft, .expireTask: nil
            }
        }
        let isAsked = ready.operations.contains(.terminate(app))
        let isKilled = ready.operations.contains(.kill(app))
        return (steps + messages + [isAsked ? .terminate : nil, isKilled ? .kill : nil]).compactMap { $0 }
    }
}
