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
            for effect in core.handle(next, at: instant ?? core.now) {
                note(effect)
                if let outcome = Self.outcome(of: effect) { inputs.insert(outcome, at: 0) }
            }
        }
    }

    /// Returns what a kernel reports that does what it is asked for. No app acts on SIGTERM: only its time-out is certain.
    private static func outcome(of effect: Effect) -> Input? {
        switch effect {
        case .spawn(let app): .outcome(app, .spawned)
        case .stop(let app): .outcome(app, .stopped)
        case .resume(let app): .outcome(app, .resumed)
        case .kill(let app): .outcome(app, .exited(.signal(9), othersLeft: false))
        case .terminate, .deliver, .answerAssertion, .tellTimeLeft, .expireTask, .measureMemory, .markMemory,
            .readMemory, .transition, .sceneTransition, .decision, .reply, .forgotten, .finished:
            nil
        }
    }

    private mutating func note(_ effect: Effect) {
        guard let event = event(of: effect), prospects.last?.event != event || event != .tasksExpire else { return }
        prospects.append(Prospect(instant: core.now, event: event))
    }

    private func event(of effect: Effect) -> Prospect.Event? {
        switch effect {
        case .transition(let step) where step.index == app: .transition(from: step.from, to: step.to, step.reason)
        case .deliver(app, let delivery): .callback(delivery.callback)
        case .decision(.answerOverdue(_, let callback), of: app): .callbackOverdue(callback)
        case .expireTask(app, _, _): .tasksExpire
        case .terminate(app): .terminate
        case .kill(app): .kill
        case .spawn, .stop, .resume, .terminate, .kill, .deliver, .answerAssertion, .tellTimeLeft, .expireTask,
            .measureMemory, .markMemory, .readMemory, .transition, .sceneTransition, .decision, .reply, .forgotten,
            .finished:
            nil
        }
    }
}
