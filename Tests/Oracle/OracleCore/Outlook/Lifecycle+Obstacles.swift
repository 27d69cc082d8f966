/// Why an app is where it is and not further: read from the same facts, by the same predicates, that its steps wait for.
///
/// Nothing here decides anything. That nothing is missing is an invariant that the simulation checks after every input:
/// an app that is not where it is to be has an obstacle.
extension Lifecycle {
    /// The next state on the app's way, or nil on arrival.
    public func nextState(of id: AppID) -> AppState? {
        apps[id].flatMap { Route.next(from: $0.state, toward: $0.destination) }
    }

    /// What keeps the app where it is, what it waits for at this moment first.
    public func obstacles(of id: AppID) -> [Obstacle] {
        guard let app = apps[id] else { return [] }
        return (outstanding(app).map { [$0] } ?? gates(of: app)) + heldOutOfSight(app) + circumstances(of: app)
    }

    /// The one thing that the app's next step waits for, once it has been asked for.
    private func outstanding(_ app: App) -> Obstacle? {
        switch app.awaiting {
        case nil: nil
        case .spawn: .process(.spawn, until: deadlines.instant(.grace, app.id))
        case .stop: .process(.stop, until: nil)
        case .resume: .process(.resume, until: nil)
        case .end: .process(.reap, until: deadlines.instant(.grace, app.id) ?? deadlines.instant(.killed, app.id))
        case .answer(let delivery, let sent, _):
            .answer(
                delivery.callback, delivery.scene?.scene, since: sent,
                until: earliest(.answer, .resignation, .parting, .launch, of: app.id))
        }
    }

    private func earliest(_ kinds: DeadlineKind..., of id: AppID) -> Instant? {
        kinds.compactMap { deadlines.instant($0, id) }.min()
    }

    /// What an app waits for that could take a step, if it were let.
    private func gates(of app: App) -> [Obstacle] {
        if let end = deadlines.instant(.hangUp, app.id), app.target != .notRunning { return [.channel(until: end)] }
        if app.isAway, !app.owed.isEmpty { return [.channel(until: deadlines.instant(.comeBack, app.id))] }
        guard let next = Route.next(from: app.state, toward: app.destination), let edge = app.edge(to: next) else {
            return app.hasScenes && app.hasSceneWork && app.state.isAlive ? [.scenes] : []
        }
        if app.isAway, edge.before != nil || app.hasScenes {
            return [.channel(until: deadlines.instant(.comeBack, app.id))]
        }
        if !app.isReady { return [.launch(until: deadlines.instant(.launch, app.id))] }
        if edge.gate == .place {
            let ahead = places.prefix { $0 != app.id }
            if !ahead.isEmpty { return [.place(Array(ahead))] }
        }
        return app.mayTake(edge) ? [] : [.scenes]
    }

    /// What the gate of rest waits for, and what keeps its destination from being sleep.
    private func heldOutOfSight(_ app: App) -> [Obstacle] {
        guard app.state == .background, app.target == .suspended || app.target == .background else { return [] }
        var result = app.holds.map { Obstacle.hold($0, until: end(of: $0, of: app.id)) }
        if app.target == .suspended, let until = deadlines.instant(.background, app.id) {
            result.append(.backgroundTime(until: until))
        }
        if let event = app.task?.event?.event {
            result.append(.work(kind: event.kindOfWork, until: deadlines.instant(.performTask, app.id)))
        }
        for waiting in app.events where waiting.event.isTask {
            result.append(.work(kind: waiting.event.kindOfWork, until: deadlines.instant(.hello, app.id)))
        }
        if app.isWoken { result.append(.work(kind: nil, until: deadlines.instant(.woken, app.id))) }
        return result
    }

    /// Why the app is to be where it is to be, where something other than its wish says so.
    private func circumstances(of app: App) -> [Obstacle] {
        var result: [Obstacle] = []
        if app.wish == .run, front.contains(app.id), app.target != .active {
            result += concealments.map { .concealment($0) }
            if concealments.isEmpty { result += interruptions.map { .interruption($0) } }
        }
        if app.wish == .run, app.target == .background {
            if app.policy.suspend == .never { result.append(.policy) }
            if app.keepsAwake { result.append(.request) }
            if let use = app.use { result.append(.use(use)) }
        }
        if app.isStoppedByOther { result.append(.stoppedByOther) }
        if let instant = deadlines.instant(.restart, app.id) { result.append(.restart(at: instant)) }
        if app.isGivenUp, app.state == .notRunning { result.append(.givenUp) }
        return result
    }
}

extension AppEvent {
    fileprivate var kindOfWork: String? {
        if case .performTask(let kind, _) = self { kind } else { nil }
    }
}
