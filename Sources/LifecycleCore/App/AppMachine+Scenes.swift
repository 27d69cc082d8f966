// The scenes of an app: each is a small machine under its app, and the app's state follows from theirs.

extension AppMachine {
    /// A Boolean value that indicates whether the scenes have a life cycle of their own. A changed manifest counts from the next
    /// launch on.
    public var hasScenes: Bool { isRunning ? launch.hasScenes : policy.scenes }

    /// Returns the state on the way to which a scene is. It follows from the target of the app and its foreground scenes. Scenes
    /// that are left of a launch with scenes stay unattached when the app has none any more.
    public func sceneTarget(of scene: Scene) -> SceneState {
        guard hasScenes, target.isAlive, !scene.isClosing else { return .unattached }
        if target.isForeground, scenes.foreground.contains(scene.id) {
            return target == .active ? .foregroundActive : .foregroundInactive
        }
        guard scene.isWanted else { return .unattached }
        return target == .suspended ? .suspended : .background
    }

    /// A Boolean value that indicates whether the app has to run for a scene, or to be told of one.
    var hasSceneWork: Bool {
        isTellingAwaited
            || scenes.all.contains {
                $0.isClosing || ($0.state == .unattached) != (sceneTarget(of: $0) == .unattached)
            }
    }

    /// An app that connected just before it was stopped was not told of its scenes.
    private var isTellingAwaited: Bool {
        waiters.contains {
            if case .scene(let scene, .connected) = $0.goal { hasPendingCallback(about: scene) } else { false }
        }
    }

    /// Returns whether the app may take this step now. In the foreground and on the way there, an app with scenes follows them.
    func mayTake(_ edge: GraphEdge<AppState>) -> Bool {
        guard hasScenes, edge.process == nil else { return true }
        return state.next(toward: scenes.appState.appState) == edge.to
    }

    /// Returns whether a callback about the scene waits or is unanswered.
    func hasPendingCallback(about scene: SceneID) -> Bool {
        sentCallback?.delivery.pending.scene == scene || outbox.callbacks.contains { $0.scene == scene }
    }

    /// Returns the reason of a connection or disconnection, as the app is told.
    func reasonToTell(_ callback: Callback, of scene: SceneID) -> SceneReason? {
        if callback == .sceneWillConnect {
            return scenes[scene].map { $0.wasConnected ? .restoration : $0.origin.reason }
        }
        guard callback == .sceneDidDisconnect else { return nil }
        if desired != .run { return .terminating }
        // A scene that was never disconnected is new: a closed scene had its id before.
        return scenes[scene].map { !$0.isClosing && $0.wasConnected } == true ? .reclaimed : .closed
    }

    /// The callbacks that tell an app which connects of the states of its scenes.
    var sceneCatchUp: [PendingCallback] {
        scenes.all.flatMap { scene -> [PendingCallback] in
            let callbacks: [Callback] =
                switch scene.state {
                case .unattached: []
                case .foregroundInactive: [.sceneWillConnect, .sceneWillEnterForeground]
                case .foregroundActive: [.sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive]
                case .background, .suspended: [.sceneWillConnect]
                }
            return callbacks.compactMap { PendingCallback($0, scene.id) }
        }
    }

    // MARK: Steps

    /// Sees to it that an app which is to be in the foreground has a scene to show, and no more than it may have.
    mutating func chooseScenes(_ shared: inout Shared) {
        guard hasScenes, target.isForeground else { return }
        if scenes.foreground.isEmpty {
            let scene = scenes.mostRecent?.id ?? makeScene(nil, role: nil, info: nil, .user, shared.now)
            scenes.foreground = [scene]
            // It comes with its app, whatever it was about to leave for.
            scenes.update(scene) { $0.desiredReason = nil }
        }
        if scenes.foreground.count > max(1, policy.sceneLimit) {
            displace(scenes.trimForeground(policy.sceneLimit), reason: .foregroundLimit)
        }
    }

    private mutating func displace(_ leaving: [SceneID], reason: Reason) {
        for scene in leaving { scenes.update(scene) { $0.desiredReason = reason } }
    }

    /// Takes one step of one scene; returns whether there was one to take.
    mutating func stepScene(_ shared: inout Shared) -> Bool {
        guard hasScenes, state.isAlive, state != .suspended else { return false }
        for scene in scenesInOrderOfSteps where mayStep(scene, shared) {
            guard
                let next = scene.state.next(toward: sceneTarget(of: scene), isTerminating: target == .notRunning),
                let edge = scene.state.edge(to: next), canTake(edge, &shared)
            else { continue }
            if isConnected, let callback = edge.before.flatMap({ PendingCallback($0, scene.id) }) {
                send(callback, next: .scene(edge.to), &shared)
            } else {
                transition(scene.id, to: edge.to, &shared)
            }
            return true
        }
        return false
    }

    /// The scenes in the order of their steps: first those that resign, so that others can have their slot; then those that come, in
    /// the order of the foreground, so that the app need not leave it in between; then the others.
    private var scenesInOrderOfSteps: [Scene] {
        let foreground = scenes.foreground.compactMap { scenes[$0] }
        let ordered = foreground + scenes.all.filter { !scenes.foreground.contains($0.id) }
        let resigning = ordered.filter { $0.state == .foregroundActive && sceneTarget(of: $0) != .foregroundActive }
        let others = ordered.filter { !resigning.contains($0) }
        return resigning + others.filter { sceneTarget(of: $0).isForeground }
            + others.filter { !sceneTarget(of: $0).isForeground }
    }

    /// Returns whether a scene may take a step. When the app ends, active scenes resign; the others go with their app, unless the
    /// app is told.
    private func mayStep(_ scene: Scene, _ shared: borrowing Shared) -> Bool {
        target != .notRunning || scene.state == .foregroundActive || isDisconnectingScenes(shared) && state != .active
    }

    /// Changes the state of a scene and reports it; the app follows. The caller sees to the next step of the app.
    mutating func transition(
        _ id: SceneID, to state: SceneState, answerTime: Duration? = nil, _ shared: inout Shared
    ) {
        guard let scene = scenes[id], scene.state != state else { return }
        let reason = scene.desiredReason ?? desiredReason
        note(state, of: scene, reason: reason, answerTime: answerTime, &shared)
        if isConnected, let edge = scene.state.edge(to: state) {
            outbox.append(edge.after, about: id)
        }
        if scene.state.isForeground || state.isForeground { followScenes(&shared) }
        forgetClosedScenes(&shared)
        answerWaiters(&shared)
    }

    private mutating func note(
        _ state: SceneState, of scene: Scene, reason: Reason, answerTime: Duration? = nil, _ shared: inout Shared
    ) {
        let now = shared.now
        let isAtTarget = state == sceneTarget(of: scene)
        let isTold = isConnected
        scenes.update(scene.id) { new in
            new.state = state
            new.reason = reason
            new.since = now
            if scene.state.isForeground, !state.isForeground { new.lastInForeground = now }
            if scene.state == .unattached { new.isWanted = true }
            if state == .unattached { (new.wasConnected, new.isEndAwaitedByApp) = (true, isTold) }
            if isAtTarget { new.desiredReason = nil }
        }
        shared.ready.announcements.append(
            .scene(
                SceneTransition(
                    app: id, scene: scene.id, from: scene.state, to: state, reason: reason, instant: now,
                    answerTime: answerTime)))
    }

    /// Moves the app with its scenes. An app that ends keeps the state in which its scenes began to disconnect.
    private mutating func followScenes(_ shared: inout Shared) {
        guard RunningState(state) != nil else { return }
        let next = scenes.appState.appState
        if next != .background || target.isAlive { transition(to: next, &shared) }
    }

    /// Suspends the scenes in the background with their process, and resumes them with it.
    mutating func moveScenesWithProcess(to state: AppState, _ shared: inout Shared) {
        guard hasScenes else { return }
        let next: SceneState
        switch state {
        case .suspended: next = .suspended
        case .background: next = .background
        case .notRunning, .inactive, .active, .terminating: return
        }
        for scene in scenes.all where scene.state.isConnectedInBackground && scene.state != next {
            note(next, of: scene, reason: reason, &shared)
        }
    }

    /// Forgets the closed scenes of whose disconnection the app was told.
    mutating func forgetClosedScenes(_ shared: inout Shared) {
        guard scenes.all.contains(where: { $0.isClosing }) else { return }
        for scene in scenes.all where scene.isClosing && scene.state == .unattached {
            guard !hasPendingCallback(about: scene.id) else { continue }
            scenes.remove(scene.id)
            // The requests for the scene are answered before there is another one of its name.
            answerWaiters(&shared)
            refuseWaiters(with: .superseded(id, by: .closed), &shared) { goal in
                if case .scene(scene.id, _) = goal { true } else { false }
            }
        }
    }

    // MARK: The end of the process

    /// A Boolean value that indicates whether the app is told of the disconnection of its scenes before its end. An app that has not
    /// launched, or that is suspended, is told of its end first. An app that is to reconnect goes on with what it has begun.
    func isDisconnectingScenes(_ shared: borrowing Shared) -> Bool {
        let mayReconnect = isReconnecting && sceneDisconnectionStart != nil && shared.deadlines[.exit, index] == nil
        guard hasScenes, channel == .connected || mayReconnect, launch.isComplete, state != .suspended
        else { return false }
        return scenes.all.contains { $0.state != .unattached } || sentCallback?.delivery.pending.scene != nil
            || outbox.callbacks.contains { $0.scene != nil }
    }

    /// Starts the callbacks about the end of the scenes. They have half of the termination timeout; SIGTERM has the rest.
    mutating func beginSceneDisconnection(_ shared: inout Shared) {
        guard shared.deadlines[.sceneDisconnection, index] == nil else { return }
        sceneDisconnectionStart = shared.now
        shared.deadlines.set(.sceneDisconnection, index, at: shared.now + policy.timeouts.termination / 2)
    }

    /// Disconnects the scenes of an app that was not told of their end in time; its own end continues.
    mutating func sceneDisconnectionOverdue(_ shared: inout Shared) {
        guard target == .notRunning, isDisconnectingScenes(shared) else { return }
        if let callback = sentCallback?.delivery.callback {
            shared.announce(.answerOverdue(id, callback), of: index)
        }
        abandonEvent(.lost, &shared)
        abandonPendingOperation()
        outbox.callbacks = []
        detachScenes(reason: desiredReason, &shared)
    }

    /// Disconnects the scenes of a process that ends. The sessions stay only for an app that restores its state, and those that
    /// were set aside.
    mutating func endScenes(reason: Reason, _ shared: inout Shared) {
        guard !scenes.all.isEmpty else { return }
        let failure = restoreFailure(of: reason, shared.now)
        let new = scenes.all.filter { !$0.wasConnected }.map { $0.id }
        detachScenes(reason: reason, &shared)
        for scene in scenes.all {
            // Each attempt without the state would leave a scene.
            let isOfFailedAttempt = failure == .setAside && new.contains(scene.id)
            let isKept = reason.callsForRestoration ? !isOfFailedAttempt : scene.isSetAside
            if scene.isClosing || !isKept {
                scenes.remove(scene.id)
            } else if failure != nil {
                scenes.setAside(scene.id)
            }
        }
    }

    private mutating func detachScenes(reason: Reason, _ shared: inout Shared) {
        for scene in scenes.all where scene.state != .unattached {
            note(.unattached, of: scene, reason: reason, &shared)
        }
    }

    // MARK: Requests

    /// Returns the refusal of a request for a scene that the app does not have.
    func refusal(of scene: SceneID) -> Refusal? {
        if scenes[scene] != nil { return nil }
        return hasScenes ? .noSuchScene(id, scene) : .noScenes(id)
    }

    /// Returns the refusal of a request to show a scene that the app does not have, or has no more.
    func refusal(toShow scene: SceneID) -> Refusal? {
        if let scene = scenes[scene], hasEnded(scene) { return .noSuchScene(id, scene.id) }
        return refusal(of: scene)
    }

    /// Returns whether the scene has ended for its app, which is told of the end, or was told and has not answered.
    private func hasEnded(_ scene: Scene) -> Bool {
        scene.isClosing && scene.state == .unattached && sentCallback?.delivery.pending != .connection(of: scene.id)
    }

    /// Opens a scene for the app itself, in the foreground if the app is there, and no further.
    mutating func openScene(_ name: SceneID?, role: String?, info: String?, _ shared: inout Shared) {
        guard isConnected else { return }
        guard hasScenes else { return shared.announce(.sceneRefused(id, .noScenes(id)), of: index) }
        let opening = SceneOpening(scene: name, role: role, info: info)
        guard let scene = session(opening, .app, shared.now) else {
            return shared.announce(.sceneRefused(id, .tooManyScenes(id, limit: Scenes.limit)), of: index)
        }
        if shared.foreground.contains(index) {
            show(scene)
        } else {
            // The scene does not keep the app from its end.
            scenes.update(scene) { $0.isWanted = true }
        }
    }

    mutating func closeSceneByApp(_ scene: SceneID, _ shared: inout Shared) {
        guard isConnected else { return }
        if let refusal = refusal(of: scene) {
            return shared.announce(.sceneRefused(id, refusal), of: index)
        }
        close(scene, &shared)
    }

    mutating func keep(_ info: String?, for scene: SceneID, _ shared: inout Shared) {
        guard isConnected else { return }
        if let refusal = refusal(of: scene) {
            return shared.announce(.sceneRefused(id, refusal), of: index)
        }
        scenes.update(scene) { $0.info = info.flatMap { $0.utf8.count <= SceneText.infoLimit ? $0 : nil } }
    }

    /// Returns the scene of an opening, as it is or a new one; nil if the app has as many scenes as it may have. A scene that has
    /// ended is replaced: the app hears of its end before it hears of the new one.
    mutating func session(_ opening: SceneOpening, _ origin: Scene.Origin, _ now: Instant) -> SceneID? {
        if let id = opening.scene, let scene = scenes[id] {
            if hasEnded(scene) {
                scenes.remove(id)
                return makeScene(id, role: opening.role, info: opening.info, origin, now)
            }
            scenes.update(id) { scene in
                scene.isClosing = false
                scene.isSetAside = false
                scene.desiredReason = nil
            }
            return id
        }
        guard scenes.hasRoom else { return nil }
        return makeScene(opening.scene, role: opening.role, info: opening.info, origin, now)
    }

    private mutating func makeScene(
        _ name: SceneID?, role: String?, info: String?, _ origin: Scene.Origin, _ now: Instant
    ) -> SceneID {
        scenes.makeRoom()
        let scene = name ?? scenes.freeID
        scenes.all.append(
            Scene(id: scene, role: role ?? SceneText.defaultRole, info: info, origin: origin, since: now))
        return scene
    }

    /// Moves the scene to the front of the app's others.
    mutating func show(_ scene: SceneID) {
        displace(scenes.bringToForeground(scene, limit: policy.sceneLimit), reason: .displaced)
        scenes.update(scene) { scene in
            scene.isClosing = false
            scene.isSetAside = false
            scene.isWanted = true
            scene.desiredReason = nil
        }
    }

    /// Connects the scene in the background; an app that is suspended there runs for it.
    mutating func connectInBackground(_ scene: SceneID, _ shared: borrowing Shared) {
        scenes.update(scene) { $0.isWanted = true }
        noteSceneWork(reason: .scene, shared)
    }

    /// Gives a reason to an app that is suspended in the background, and runs for a scene.
    private mutating func noteSceneWork(reason: Reason, _ shared: borrowing Shared) {
        if desired == .run, state == .suspended, !shared.foreground.contains(index) { desiredReason = reason }
    }

    mutating func close(_ scene: SceneID, _ shared: inout Shared) {
        scenes.update(scene) { $0.isClosing = true }
        removeFromForeground(scene, reason: .closed, &shared)
        if isEndUntold(of: scene) { outbox.callbacks.append(.disconnection(of: scene)) }
        forgetClosedScenes(&shared)
        if scenes[scene] != nil { noteSceneWork(reason: .closed, shared) }
    }

    /// Returns whether the app has to be told that a closed scene, which was disconnected before, does not come back.
    private func isEndUntold(of id: SceneID) -> Bool {
        guard isConnected, hasScenes, desired == .run, let scene = scenes[id], scene.state == .unattached,
            scene.isEndAwaitedByApp, !outbox.callbacks.contains(where: { $0.scene == id })
        else { return false }
        guard let delivery = sentCallback?.delivery, delivery.pending.scene == id else { return true }
        // A scene that is being connected is disconnected afterwards.
        return delivery.callback == .sceneDidDisconnect && delivery.scene?.reason != .closed
    }

    /// Removes the scene from the foreground, and with the last one the app.
    mutating func removeFromForeground(_ scene: SceneID, reason: Reason, _ shared: inout Shared) {
        scenes.update(scene) { $0.desiredReason = reason }
        guard scenes.foreground.contains(scene) else { return }
        scenes.foreground.removeAll { $0 == scene }
        guard hasScenes, scenes.foreground.isEmpty, shared.foreground.contains(index) else { return }
        leaveForeground(reason: reason, &shared)
    }

    /// Takes the app off the foreground list, and gives a reason to what it does next unless that has one, or it ends.
    mutating func leaveForeground(reason: Reason? = nil, _ shared: inout Shared) {
        if let reason, desired == .run { desiredReason = reason }
        if shared.foreground.remove(index) { lastInForeground = shared.now }
        shared.reconciles.appendOnce(index)
    }

    /// The scenes in the background, and not on their way to the foreground.
    var scenesToReclaim: [SceneID] {
        scenes.all.filter { scene in
            let target = sceneTarget(of: scene)
            return scene.state.isConnectedInBackground && target != .unattached && !target.isForeground
        }.map { $0.id }
    }
}
