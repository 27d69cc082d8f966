import OrderedCollections

/// A condition that keeps an app in its state: what its next step waits for, or what decides its target.
public enum StateCondition: Sendable, Equatable {
    /// The kernel was asked for this operation and has not confirmed it; until when it has time, if that is limited.
    case process(ProcessStep, until: Instant?)
    /// The app has not answered a callback, about itself or a scene.
    case answer(Callback, SceneID?, since: Instant, until: Instant?)
    /// These apps have the activation slots, or come first.
    case activationSlot([AppID])
    /// The app has background time.
    case backgroundTime(until: Instant)
    /// The app holds a task or an activity; until when a task may last, if its time runs.
    case assertion(Assertion, until: Instant?)
    /// The app has work, of this kind if it can be told.
    case work(kind: String?, until: Instant?)
    /// The app must answer the launch callbacks first.
    case launch(until: Instant?)
    /// The app has lost its channel and may reconnect.
    case channel(until: Instant?)
    /// The app was continued to act upon a signal from outside, and may be about to end.
    case signal(until: Instant?)
    /// The scenes of the app are on their way; the app moves with them.
    case scenes
    /// An interruption of the foreground.
    case interruption(String)
    /// The foreground is blocked.
    case foregroundBlocked(ForegroundBlocker)
    /// The policy says that the app is never suspended.
    case policy
    /// A request keeps the app running.
    case request
    /// The app is used in the background.
    case use(Use)
    /// The app has ended by itself, and is launched again then.
    case restart(at: Instant)
    /// The app reached the restart limit.
    case restartLimitReached
    /// Another program has stopped the app's processes.
    case stoppedByOther
}

// Nothing here decides anything: the conditions are read from the facts, by the queries, that the steps wait for. The simulation
// checks after every input that an app which is not at its destination has a condition.
extension Engine {
    /// Returns the next state on the app's way; nil on arrival. An app that is in the background only for its work is suspended when
    /// the work ends, or its time.
    public func nextState(of id: AppID) -> AppState? {
        guard let app = knownApps[id] else { return nil }
        return app.state.next(toward: app.destination) ?? (app.isSuspendedAfterWork ? .suspended : nil)
    }

    /// Returns the conditions of the app, first the condition of its next step.
    public func conditions(of id: AppID) -> [StateCondition] {
        guard let app = knownApps[id] else { return [] }
        return (pendingOperation(of: app).map { [$0] } ?? gates(of: app)) + background(of: app) + deciders(of: app)
    }

    private func pendingOperation(of app: AppMachine) -> StateCondition? {
        switch app.phase {
        case .notRunning, .running(_, sentCallback: nil), .suspended(isConfirmed: true): return nil
        case .spawning: return .process(.spawn, until: deadline(.termination, of: app.id))
        case .stopping, .suspended: return .process(.stop, until: nil)
        case .resuming: return .process(.resume, until: nil)
        case .terminating:
            return .process(.reap, until: deadline(.termination, of: app.id) ?? deadline(.killed, of: app.id))
        case .running(_, let sentCallback?):
            let kinds: [DeadlineKind] = [.answer, .resignation, .sceneDisconnection, .launch]
            return .answer(
                sentCallback.delivery.callback, sentCallback.delivery.pending.scene, since: sentCallback.sent,
                until: kinds.compactMap { deadline($0, of: app.id) }.min())
        }
    }

    /// Returns what an app waits for that has no pending operation.
    private func gates(of app: AppMachine) -> [StateCondition] {
        if let end = deadline(.signal, of: app.id), app.target != .notRunning { return [.signal(until: end)] }
        if let end = deadline(.exit, of: app.id), app.target != .notRunning { return [.channel(until: end)] }
        if app.isReconnecting, !app.outbox.callbacks.isEmpty {
            return [.channel(until: deadline(.reconnection, of: app.id))]
        }
        guard let next = app.state.next(toward: app.destination), let edge = app.edge(to: next) else {
            return app.hasScenes && app.hasSceneWork && app.state.isAlive ? [.scenes] : []
        }
        if app.isReconnecting, edge.before != nil || app.hasScenes {
            return [.channel(until: deadline(.reconnection, of: app.id))]
        }
        if !app.isReady { return [.launch(until: deadline(.launch, of: app.id))] }
        if edge.gate == .activationSlot || edge.gate == .foreground {
            let ahead = shared.activation.slots.prefix { $0 != app.index }
            if !ahead.isEmpty { return [.activationSlot(ahead.map { knownApps[$0].id })] }
        }
        return app.mayTake(edge) ? [] : [.scenes]
    }

    /// Returns what keeps a background app from being suspended.
    private func background(of app: AppMachine) -> [StateCondition] {
        guard app.state == .background, app.target == .suspended || app.target == .background else { return [] }
        var result = app.heldAssertions.map { StateCondition.assertion($0, until: end(of: $0, of: app.id)) }
        if app.target == .suspended, let until = deadline(.background, of: app.id) {
            result.append(.backgroundTime(until: until))
        }
        if let task = app.outbox.task?.event {
            result.append(.work(kind: task.event.taskKind, until: deadline(.performTask, of: app.id)))
        }
        for waiting in app.outbox.events where waiting.event.isTask {
            result.append(.work(kind: waiting.event.taskKind, until: deadline(.hello, of: app.id)))
        }
        if app.assertions.isWoken { result.append(.work(kind: nil, until: deadline(.woken, of: app.id))) }
        return result
    }

    /// Returns what decides the target beside the desired state.
    private func deciders(of app: AppMachine) -> [StateCondition] {
        var result: [StateCondition] = []
        if app.desired == .run, app.target != .active, shared.foreground.contains(app.index) {
            result += foregroundBlockers.map { .foregroundBlocked($0) }
            if foregroundBlockers.isEmpty { result += interruptions.map { .interruption($0) } }
        }
        if app.desired == .run, app.target == .background {
            if app.policy.suspend == .never { result.append(.policy) }
            if app.assertions.userOverride == .keepRunning { result.append(.request) }
            if let use = app.use { result.append(.use(use)) }
        }
        if app.isStoppedByOther { result.append(.stoppedByOther) }
        if let instant = deadline(.restart, of: app.id) { result.append(.restart(at: instant)) }
        if app.restart.isLimitReached, app.state == .notRunning { result.append(.restartLimitReached) }
        return result
    }

    // MARK: Times

    /// Returns the deadline of an app; nil if there is none of this kind.
    ///
    /// - Parameters:
    ///   - kind: The kind of deadline.
    ///   - id: The id of the app.
    /// - Returns: The instant; nil also for an app that is not known.
    package func deadline(_ kind: DeadlineKind, of id: AppID) -> Instant? {
        knownApps.index(of: id).flatMap { shared.deadlines[kind, $0] }
    }

    /// Returns the end of the app's background time, if it is limited.
    public func endOfBackgroundTime(of id: AppID) -> Instant? {
        let kinds: [DeadlineKind] = [.background, .woken, .performTask]
        return kinds.compactMap { deadline($0, of: id) }.max()
    }

    /// Returns the instant at which the time of the app's tasks ends, or has ended; nil if it does not run.
    public func taskTimeEnd(of id: AppID) -> Instant? { knownApps[id]?.taskTimeEnd(shared) }

    /// Returns the instant at which the daemon ends a task; nil if no time runs, and for an activity.
    ///
    /// - Parameters:
    ///   - assertion: The task or activity.
    ///   - id: The id of the app that holds it.
    /// - Returns: The instant; nil also for an app that is not known.
    package func end(of assertion: Assertion, of id: AppID) -> Instant? {
        guard assertion.kind == .task else { return nil }
        return deadline(.taskExpiration, of: id) ?? deadline(.tasks, of: id)
    }

    /// Returns the reason of the app's last launch and its previous end; nil for an app that is not known.
    public func launch(of id: AppID) -> Launch? {
        knownApps[id].map { Launch(reason: $0.launch.reason, previous: $0.lastExit) }
    }
}

extension AppMachine {
    /// True for an app that nothing but its work, or a use of it, keeps in the background.
    fileprivate var isSuspendedAfterWork: Bool {
        state == .background && destination == .background && desired == .run && policy.suspend != .never
            && assertions.userOverride != .keepRunning
    }
}
