import OrderedCollections

/// Places among the active apps: there are `frontLimit` of them, and they are taken in turn.
///
/// An app joins the queue when it is told to come to the front, and leaves it when it has resigned from being active.
/// It may join only when everybody who would be in its way was told to resign, so that whoever is told to come also
/// gets there; the telling overlaps, the places do not.
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
        places.append(id)
        return true
    }

    /// Whether the app may be active now; it joins the queue if it has not yet.
    mutating func hasPlace(_ id: AppID) -> Bool {
        guard joinPlaces(id), let app = apps[id], let index = places.firstIndex(of: id) else { return false }
        return index < placeCount(for: app)
    }

    /// How many places there are. To one that was told to come, and is not to stay, there are as many as there were then:
    /// it becomes active before it leaves, and nobody has to wait for that any longer than for one that resigns.
    private func placeCount(for app: App) -> Int {
        app.target == .active ? settings.frontLimit : max(settings.frontLimit, app.placesPromised ?? 0)
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
        guard let index = places.firstIndex(of: id) else {
            if app.destination != .active { waitingForPlace.remove(id) }
            return
        }
        if app.state != .active, app.destination != .active {
            leavePlaces(id)
        } else if app.target == .active {
            // One that was told to resign has to answer that in time, even when it is wanted again.
            if !app.isResigning { deadlines.clear(.resignation, id) }
        } else if index < placeCount(for: app) || app.state == .active, deadlines.instant(.resignation, id) == nil {
            deadlines.set(.resignation, id, at: now + app.policy.timeouts.willResignActive)
        }
    }

    /// The app did not make room in time; the others go on without its answer. It leaves its place as soon as it is neither
    /// active nor owed that. What it was told before has the rest of its time, and the next comes after that.
    mutating func resignationOverdue(_ id: AppID) {
        guard let app = apps[id] else { return }
        let beginning = effects.count
        apps[id]?.placesPromised = nil
        if app.state == .active {
            resignUnanswered(app)
        } else if app.awaitedCallback == .willEnterForeground {
            // It comes no further, and goes back when it has answered: later, somebody may have been told that it is out of sight.
            arrive(id, at: .inactive)
        }
        // What has more time than its place, and is still waited for, is not overdue, unless it has cost the app what it was told
        // to come for.
        if let callback = app.awaitedCallback, app.owesActivation || apps[id]?.awaiting != app.awaiting {
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
        // What it was told before that has time left, and it is told to resign when it has answered.
        let isBusy = app.isLinked && !app.isResigning
        if !isBusy || app.isAway { goOnUnheard(app.id) }
        if isBusy { apps[app.id]?.owed.append(Notice(.willResignActive)) }
        arrive(app.id, at: .inactive)
    }

    /// The same for each of its scenes; those that have not been told yet are told late.
    private mutating func resignScenesUnanswered(_ app: App) {
        if app.isAway || app.awaitedNotice?.isResignation == true { goOnUnheard(app.id) }
        for scene in apps[app.id]?.scenes.all ?? [] where scene.state == .foregroundActive {
            let activation = Notice(.sceneDidBecomeActive, scene.id)
            if app.owed.contains(activation), !app.isAway {
                apps[app.id]?.owed.removeAll { $0 == activation }
            } else if app.isLinked {
                apps[app.id]?.owed.append(Notice(.sceneWillResignActive, scene.id))
            }
            arrive(scene.id, of: app.id, at: .foregroundInactive)
        }
    }
}
