/// What will happen to an app if nobody does anything: the machine is a value, so a copy of it goes ahead and tells.
extension Lifecycle {
    /// How many deadlines of all apps a forecast looks ahead. Those beyond are far off in most cases, and there has to
    /// be an end where one deadline leads to the next for ever.
    static let forecastLimit = 256

    /// What will happen to the app, in this order: deadlines pass, no app says anything or ends by itself, and the kernel
    /// does what it is asked for. So each instant is the latest; an app that answers is there before.
    ///
    /// - Parameter limit: How many events are wanted at most.
    public func forecast(of id: AppID, limit: Int = 8) -> [Prospect] {
        var future = Future(core: self, id: id)
        future.confirmWhatIsUnderWay()
        for _ in 0..<Self.forecastLimit where future.prospects.count < limit {
            guard future.passDeadline() else { break }
        }
        return Array(future.prospects.prefix(limit))
    }
}

/// A copy of the machine that runs ahead, with a kernel that never fails.
private struct Future {
    var core: Lifecycle
    let id: AppID
    var prospects: [Prospect] = []

    /// What the kernel was asked for already, it has done in a moment.
    mutating func confirmWhatIsUnderWay() {
        for app in core.apps.values.sorted(by: { $0.id < $1.id }) {
            switch app.awaiting {
            case .spawn: give(.outcome(app.id, .spawned))
            case .stop: give(.outcome(app.id, .stopped))
            case .resume: give(.outcome(app.id, .resumed))
            case .answer, .end, nil: break
            }
        }
    }

    /// - Returns: Whether there was one.
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

    /// What a kernel that does what it is asked for reports. Nobody acts on SIGTERM: the grace is all that is certain.
    private static func outcome(of effect: Effect) -> Input? {
        switch effect {
        case .spawn(let id): .outcome(id, .spawned)
        case .stop(let id): .outcome(id, .stopped)
        case .resume(let id): .outcome(id, .resumed)
        case .kill(let id): .outcome(id, .exited(.signal(9), othersLeft: false))
        default: nil
        }
    }

    private mutating func note(_ effect: Effect) {
        let event: Prospect.Event? =
            switch effect {
            case .transition(let step) where step.app == id:
                .transition(from: step.from, to: step.to, step.reason)
            case .deliver(id, let delivery): .callback(delivery.callback)
            case .decision(.answerOverdue(id, let callback)): .callbackOverdue(callback)
            case .expireTask(id, _, _): .tasksExpire
            case .terminate(id): .terminate
            case .kill(id): .kill
            default: nil
            }
        guard let event, prospects.last?.event != event || event != .tasksExpire else { return }
        prospects.append(Prospect(instant: core.now, event: event))
    }
}
