import OrderedCollections

/// One step at a time: where an app is to go, and what it takes to get to the next state.
extension Lifecycle {
    /// Works out where the app is to be, and makes room for a change of mind: what is under way and no longer wanted
    /// is given up, where it can be.
    mutating func retarget(_ id: AppID) {
        updateUse(of: id)
        guard let app = apps[id] else { return }
        let target = wishedTarget(of: app)
        if target != app.target { apps[id]?.target = target }
        if target.isForeground { apps[id]?.keepsAwake = false }
        if target.isAlive {
            deadlines.clear(.parting, id)
            apps[id]?.partingSince = nil
        }
        chooseScenes(of: id)
        giveUpCallbacksOfEnding(id)
        giveUpStop(id)
        updatePlace(of: id)
    }

    private func wishedTarget(of app: App) -> AppState {
        switch app.wish {
        case .rest, .end: return .notRunning
        case .run:
            if front.contains(app.id), concealments.isEmpty { return interruptions.isEmpty ? .active : .inactive }
            if app.policy.suspend == .never { return .background }
            if app.isSuspendedAtOnce { return .suspended }
            return app.keepsAwake || app.use != nil ? .background : .suspended
        }
    }

    /// An app that is to end is not kept from it by callbacks, but for resigning from being active, and for hearing that
    /// its scenes are disconnected.
    private mutating func giveUpCallbacksOfEnding(_ id: AppID) {
        guard let app = apps[id], app.target == .notRunning, app.state != .active, app.state.isAlive else { return }
        if app.isParting { return part(with: id) }
        apps[id]?.owed = []
        giveUpEvent(of: id, .lost)
        apps[id]?.awaiting = nil
        apps[id]?.resignations = []
    }

    /// A stop under way is taken back as soon as the app is wanted; waiting for it could take long.
    private mutating func giveUpStop(_ id: AppID) {
        guard let app = apps[id], app.awaiting == .stop, app.destination != .suspended,
            app.state == .background || deadlines.instant(.hangUp, id) == nil
        else { return }
        apps[id]?.awaiting = nil
        if app.state == .background {
            effects.append(.resume(id))
            apps[id]?.awaiting = .resume
        }
    }

    /// Takes one step towards the app's destination.
    ///
    /// - Returns: Whether another one may follow at once.
    mutating func step(_ id: AppID) -> Bool {
        if sendResignation(to: id) { return true }
        guard let app = apps[id], app.awaiting == nil else { return false }
        // An app whose channel ended stays where it is until it is known whether its process did; but it may be ended.
        guard deadlines.instant(.hangUp, id) == nil || app.target == .notRunning else { return false }
        if deliverEvent(to: id) { return true }
        if let notice = app.owed.first, app.state != .suspended {
            guard !app.isAway else { return false }
            apps[id]?.owed.removeFirst()
            deliver(notice, to: id, then: nil)
            return true
        }
        if stepScene(of: id) { return true }
        guard let next = Route.next(from: app.state, toward: app.destination),
            let edge = app.edge(to: next),
            app.mayTake(edge),
            edge.before == nil || !app.isAway,
            isOpen(edge, for: id)
        else {
            deliverTask(to: id)
            return false
        }
        if let callback = edge.before, app.isLinked {
            deliver(Notice(callback), to: id, then: .app(edge.to))
        } else {
            take(edge, with: id)
        }
        return true
    }

    private mutating func isOpen(_ edge: Route.Edge, for id: AppID) -> Bool {
        guard let app = apps[id], app.isReady || edge.gate == nil else { return false }
        switch edge.gate {
        case nil: return true
        case .place: return edge.to == .active ? hasPlace(id) : joinPlaces(id)
        case .rest:
            return app.isSuspendedAtOnce || app.holds.isEmpty && deadlines.instant(.background, id) == nil
        }
    }

    /// Asks the kernel for what the edge needs, or arrives at once where it needs nothing.
    mutating func take(_ edge: Route.Edge, with id: AppID, answerTime: Duration? = nil) {
        switch edge.process {
        case nil: arrive(id, at: edge.to, answerTime: answerTime)
        case .spawn: spawn(id, to: edge.to)
        case .stop:
            effects.append(.stop(id))
            apps[id]?.awaiting = .stop
            // Whoever stopped it before: from now on it is the daemon who has.
            apps[id]?.isStoppedByOther = false
        case .resume:
            effects.append(.resume(id))
            apps[id]?.awaiting = .resume
        case .terminate: askToEnd(id)
        case .reap: apps[id]?.awaiting = .end
        }
    }

    private mutating func spawn(_ id: AppID, to state: AppState) {
        guard let app = apps[id] else { return }
        runningCount += 1
        // Of processes that are no children, too, nobody hears that they were stopped.
        if app.policy.isAdopted { inherited.insert(id) } else { inherited.remove(id) }
        apps[id]?.launched = now
        apps[id]?.awaiting = .spawn(to: state)
        apps[id]?.hasLaunched = false
        apps[id]?.runsWithScenes = app.policy.scenes
        noteLaunchURL(of: id)
        effects.append(.spawn(id))
    }

    /// Puts the app into a state, says so, and notes what follows from being there.
    mutating func arrive(_ id: AppID, at state: AppState, reason given: Reason? = nil, answerTime: Duration? = nil) {
        guard let app = apps[id], app.state != state else { return }
        let reason = given ?? (state == .suspended && app.wishReason != .suspend ? .idle : app.wishReason)
        apps[id]?.state = state
        apps[id]?.reason = reason
        apps[id]?.since = now
        if app.state == .suspended { suspendedCount -= 1 }
        if state == .suspended { suspendedCount += 1 }
        if app.isLinked, let edge = app.edge(to: state) { apps[id]?.owed += edge.after.map { Notice($0) } }
        effects.append(
            .transition(
                Transition(
                    app: id, from: app.state, to: state, reason: reason, instant: now, since: app.since,
                    answerTime: answerTime)))
        takeScenesAlong(id, to: state)
        if app.state == .active { leavePlaces(id) }
        if app.state == .background { leaveBackground(id) }
        if state == .background { enterBackground(id) }
        switch state {
        case .suspended: deadlines.clear(.comeBack, id)
        case .inactive: apps[id]?.hasBeenInFront = true
        case .background where app.state != .suspended: startBackgroundTime(of: id)
        default: break
        }
        answerWaiters(of: id)
        unsettled.append(id)
    }

    /// An app that does not listen gets some time out of sight to finish what it does, unless somebody said otherwise.
    mutating func startBackgroundTime(of id: AppID) {
        guard let app = apps[id], !app.isLinked, app.wishReason != .suspend else { return }
        deadlines.set(.background, id, at: now + app.policy.timeouts.background)
    }
}
