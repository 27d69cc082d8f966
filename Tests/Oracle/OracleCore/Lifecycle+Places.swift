import OrderedCollections

/// Places among the active apps: there are `frontLimit` of them, and they are taken in turn.
///
/// An app joins the queue when it is told to come to the foreground, and leaves it when it has resigned from being active, or
/// is not to become active any more. It may join only when every app that would be in its way was told to resign; the telling
/// overlaps, the places do not.
extension Lifecycle {
    /// Joins the queue if that is possible now.
    ///
    /// - Returns: Whether the app is in the queue.
    mutating func joinPlaces(_ id: AppID) -> Bool {
        if places.contains(id) { return true }
        let staying = places.count { apps[$0]?.isResigning == false }
        guard staying < settings.frontLimit else {
            waitingForPlace.append(id)
            return false
        }
        waitingForPlace.remove(id)
        // While something interrupts it, it comes to the foreground and is not active there.
        if apps[id]?.target == .active { places.append(id) }
        return true
    }

    /// Whether the app may be active now; it joins the queue if it has not yet.
    mutating func hasPlace(_ id: AppID) -> Bool {
        guard joinPlaces(id), let index = places.firstIndex(of: id) else { return false }
        return index < settings.frontLimit
    }

    /// Gives up the app's place, so that the next one can have it.
    mutating func leavePlaces(_ id: AppID) {
        deadlines.clear(.resignation, id)
        guard places.remove(id) != nil else { return }
        for other in places { unsettled.append(other) }
        unsettleWaitingForPlace()
    }

    mutating func unsettleWaitingForPlace() {
        for other in waitingForPlace { unsettled.append(other) }
    }

    /// Sees to it that an app which is no longer wanted in its place gives it up in time.
    mutating func updatePlace(of id: AppID) {
        guard let app = apps[id] else { return }
        guard places.contains(id) else {
            if !app.target.isForeground { waitingForPlace.remove(id) }
            return
        }
        if app.state != .active, app.target != .active {
            leavePlaces(id)
        } else if app.target == .active {
            // One that was told to resign has to answer that in time, even when it is wanted again.
            if !app.isResigning { deadlines.clear(.resignation, id) }
        } else if deadlines.instant(.resignation, id) == nil {
            deadlines.set(.resignation, id, at: now + app.policy.timeouts.willResignActive)
        }
    }

    /// The app did not make room in time; the others go on without its answer. What it was told before has the rest of its time,
    /// and the next comes after that.
    mutating func resignationOverdue(_ id: AppID) {
        guard let app = apps[id], app.state == .active else { return }
        let beginning = effects.count
        resignUnanswered(app)
        // What has more time than its place, and is still waited for, is not overdue.
        if let callback = app.awaitedCallback, apps[id]?.awaiting != app.awaiting {
            effects.insert(.decision(.answerOverdue(id, callback)), at: beginning)
        }
    }

    private mutating func resignUnanswered(_ app: App) {
        if app.hasScenes { return resignScenesUnanswered(app) }
        // One that is away, and has launched, may have heard that it comes to the front. What has become of that it is told when
        // it is back.
        let mayKnow = app.isAway && app.hasLaunched
        if app.owed.contains(where: \.isActivation), !mayKnow {
            // It has never heard that it was active, and need not hear that it no longer is.
            apps[app.id]?.owed.removeAll(where: \.isActivation)
            return arrive(app.id, at: .inactive)
        }
        // It deals with what it was told before, and then with this.
        if app.isResigning, isAwaitedLonger(app) {
            keepResignation(of: app.id, scene: nil)
            return arrive(app.id, at: .inactive)
        }
        // What it was told before that has time left, and it is told to resign when it has answered.
        let isBusy = app.isLinked && !app.isResigning
        if !isBusy || app.isAway { goOnUnheard(app.id) }
        if isBusy { apps[app.id]?.owed.append(Notice(.willResignActive)) }
        arrive(app.id, at: .inactive)
    }

    /// A Boolean value that indicates whether an unanswered resignation of the app is still waited for when its place is lost:
    /// it was sent behind another callback.
    private func isAwaitedLonger(_ app: App) -> Bool {
        if !app.resignations.isEmpty { return true }
        return app.awaitedNotice?.isResignation == true && deadlines.instant(.answer, app.id).map { $0 > now } ?? false
    }

    /// The same for each of its scenes; those that have not been told yet are told late.
    private mutating func resignScenesUnanswered(_ app: App) {
        let isAwaitedLonger = isAwaitedLonger(app)
        if !isAwaitedLonger, app.isAway || app.awaitedNotice?.isResignation == true { goOnUnheard(app.id) }
        for scene in apps[app.id]?.scenes.all ?? [] where scene.state == .foregroundActive {
            let activation = Notice(.sceneDidBecomeActive, scene.id)
            if isAwaitedLonger, app.isResigning(scene.id) {
                keepResignation(of: app.id, scene: scene.id)
            } else if app.owed.contains(activation), !app.isAway {
                apps[app.id]?.owed.removeAll { $0 == activation }
            } else if app.isLinked {
                apps[app.id]?.owed.append(Notice(.sceneWillResignActive, scene.id))
            }
            arrive(scene.id, of: app.id, at: .foregroundInactive)
        }
    }
}
