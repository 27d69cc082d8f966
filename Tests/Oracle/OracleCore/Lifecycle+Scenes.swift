import OrderedCollections

/// The steps of scenes: each is a small machine of its own, and the app's state follows from where they are.
extension Lifecycle {
    /// An app that is to be in front has a scene to show there, and no more than it may have.
    mutating func chooseScenes(of id: AppID) {
        guard let app = apps[id], app.hasScenes, app.target.isForeground else { return }
        if app.scenes.front.isEmpty {
            let scene = app.scenes.mostRecent?.id ?? makeScene(of: id, nil, role: nil, info: nil, origin: .person)
            apps[id]?.scenes.front = [scene]
        }
        if app.scenes.front.count > max(1, app.policy.sceneLimit) {
            displace(apps[id]?.scenes.trimFront(app.policy.sceneLimit) ?? [], of: id, reason: .foregroundLimit)
        }
    }

    /// Those that are one too many in front go on out of sight.
    mutating func displace(_ scenes: [SceneID], of id: AppID, reason: Reason = .displaced) {
        for scene in scenes { apps[id]?.scenes.update(scene) { $0.wishReason = reason } }
    }

    /// Takes one step of one scene of the app.
    ///
    /// - Returns: Whether there was one to take.
    mutating func stepScene(of id: AppID) -> Bool {
        guard let app = apps[id], app.hasScenes, app.state.isAlive, app.state != .suspended else { return false }
        for scene in app.scenesInOrderOfSteps where app.maySceneStep(scene) {
            guard
                let next = SceneRoute.next(
                    from: scene.state, toward: app.sceneTarget(of: scene), isEnding: app.target == .notRunning),
                let edge = SceneRoute.edge(from: scene.state, to: next),
                edge.before == nil || !app.isAway,
                isOpen(edge, for: id)
            else { continue }
            if let callback = edge.before, app.isLinked {
                deliver(Notice(callback, scene.id), to: id, then: .scene(edge.to))
            } else {
                arrive(scene.id, of: id, at: edge.to)
            }
            return true
        }
        return false
    }

    private mutating func isOpen(_ edge: SceneRoute.Edge, for id: AppID) -> Bool {
        guard let app = apps[id], app.isReady || edge.gate == nil else { return false }
        switch edge.gate {
        case nil, .launch: return true
        case .front: return app.state.isForeground || joinPlaces(id)
        // One that has to resign cannot while its app is away.
        case .place: return app.scenes.activeCount < max(1, app.policy.sceneLimit) && hasPlace(id)
        case .process: return false
        }
    }

    /// Takes the step of a scene that has waited for an answer, if it can still be taken.
    mutating func goOn(_ scene: SceneID, of id: AppID, to next: SceneState, answerTime: Duration?) {
        guard let state = apps[id]?.scenes[scene]?.state, SceneRoute.edge(from: state, to: next) != nil else { return }
        arrive(scene, of: id, at: next, answerTime: answerTime)
    }

    /// Puts the scene into a state and says so; its app follows. The caller sees to what the app does next.
    mutating func arrive(_ sceneID: SceneID, of id: AppID, at state: SceneState, answerTime: Duration? = nil) {
        guard let app = apps[id], let scene = app.scenes[sceneID], scene.state != state else { return }
        note(state, of: scene, in: app, reason: scene.wishReason ?? app.wishReason, answerTime: answerTime)
        if app.isLinked, let edge = SceneRoute.edge(from: scene.state, to: state) {
            apps[id]?.owed += edge.after.map { Notice($0, sceneID) }
        }
        if scene.state.isForeground || state.isForeground { followScenes(id) }
        forgetClosedScenes(of: id)
        answerWaiters(of: id)
    }

    private mutating func note(
        _ state: SceneState, of scene: Scene, in app: App, reason: Reason, answerTime: Duration? = nil
    ) {
        let now = now
        let isThere = state == app.sceneTarget(of: scene)
        apps[app.id]?.scenes.update(scene.id) { new in
            new.state = state
            new.reason = reason
            new.since = now
            if scene.state.isForeground, !state.isForeground { new.lastInFront = now }
            if scene.state == .unattached { new.isWanted = true }
            if state == .unattached { new.wasConnected = true }
            if isThere { new.wishReason = nil }
        }
        effects.append(
            .sceneTransition(
                SceneTransition(
                    app: app.id, scene: scene.id, from: scene.state, to: state, reason: reason, instant: now,
                    answerTime: answerTime)))
    }

    /// An app is as far in front as its scenes are. One that ends is where it was when they began to go.
    private mutating func followScenes(_ id: AppID) {
        guard let app = apps[id], [.active, .inactive, .background].contains(app.state) else { return }
        let state = app.scenes.appState
        if state != .background || app.target.isAlive { arrive(id, at: state) }
    }

    /// The scenes out of sight sleep with their process, and wake with it.
    mutating func takeScenesAlong(_ id: AppID, to state: AppState) {
        guard let app = apps[id], app.hasScenes else { return }
        let next: SceneState? = state == .suspended ? .suspended : state == .background ? .background : nil
        guard let next else { return }
        for scene in app.scenes.all where scene.state.isConnectedInBackground && scene.state != next {
            note(next, of: scene, in: app, reason: app.reason)
        }
    }

    /// A closed scene is forgotten when the app has heard that it does not have it any more.
    mutating func forgetClosedScenes(of id: AppID) {
        guard let app = apps[id], app.scenes.all.contains(where: \.isClosing) else { return }
        for scene in app.scenes.all where scene.isClosing && scene.state == .unattached {
            if !app.owesNews(of: scene.id) { forget(scene.id, of: id) }
        }
    }

    /// Whoever waits for the scene is answered before there is another one of its name.
    private mutating func forget(_ scene: SceneID, of id: AppID) {
        apps[id]?.scenes.remove(scene)
        answerWaiters(of: id)
        refuseWaiters(of: id, with: .superseded(id, by: .closed)) { waiter in
            if case .scene(scene, _) = waiter.goal { true } else { false }
        }
    }

    // MARK: The end of the process

    /// Tells the app that is to end of its scenes' end first, when it has answered what it was told before. It has half of
    /// the termination timeout for that; SIGTERM has the rest.
    mutating func part(with id: AppID) {
        guard let app = apps[id] else { return }
        if deadlines.instant(.parting, id) == nil {
            apps[id]?.partingSince = now
            deadlines.set(.parting, id, at: now + app.policy.timeouts.willTerminate / 2)
        }
    }

    /// The app has not heard of its scenes' end in time; it goes on to its own.
    mutating func partingOverdue(_ id: AppID) {
        guard let app = apps[id], app.target == .notRunning, app.isParting else { return }
        if let callback = app.awaitedCallback { effects.append(.decision(.answerOverdue(id, callback))) }
        giveUpEvent(of: id, .lost)
        apps[id]?.awaiting = nil
        apps[id]?.resignations = []
        apps[id]?.owed = []
        detachScenes(of: id, reason: app.wishReason)
    }

    /// The process is ending. The sessions stay only for an app that may find again what it was doing.
    mutating func endScenes(of id: AppID, reason: Reason) {
        guard let app = apps[id], !app.scenes.all.isEmpty else { return }
        detachScenes(of: id, reason: reason)
        for scene in app.scenes.all where scene.isClosing || !reason.callsForRestoration {
            apps[id]?.scenes.remove(scene.id)
        }
    }

    private mutating func detachScenes(of id: AppID, reason: Reason) {
        guard let app = apps[id] else { return }
        for scene in app.scenes.all where scene.state != .unattached {
            note(.unattached, of: scene, in: app, reason: reason)
        }
    }
}
