extension App {
    /// Whether its scenes have a life cycle of their own. What the manifest says counts from the next launch on.
    public var hasScenes: Bool { isRunning ? self.runsWithScenes : self.policy.scenes }

    /// Where a scene of it is on its way to. It follows from where the app is to be, and which scenes are in front there. What
    /// is left of a launch with scenes stays where it is when there are none any more.
    public func sceneTarget(of scene: Scene) -> SceneState {
        guard hasScenes, self.target.isAlive, !scene.isClosing else { return .unattached }
        if self.scenes.front.contains(scene.id), self.target.isForeground {
            return self.target == .active ? .foregroundActive : .foregroundInactive
        }
        guard scene.isWanted else { return .unattached }
        return self.target == .suspended ? .suspended : .background
    }

    /// Whether a scene is to be connected or disconnected, or closed with the app's knowledge, or somebody waits until it has
    /// heard of one, for which it has to be awake.
    var hasSceneWork: Bool {
        hasScenes
            && (isNewsWaitedFor
                || self.scenes.all.contains {
                    $0.isClosing || ($0.state == .unattached) != (sceneTarget(of: $0) == .unattached)
                })
    }

    /// One that has begun to listen just before it was stopped has not heard of the scenes that it has.
    private var isNewsWaitedFor: Bool {
        self.waiters.contains {
            if case .scene(let scene, .connected) = $0.goal { owesNews(of: scene) } else { false }
        }
    }

    /// The step of the app from where it is. Its scenes are told in its place what concerns being in front.
    func edge(to next: AppState) -> Route.Edge? {
        guard var edge = Route.edge(from: self.state, to: next) else { return nil }
        if hasScenes, edge.process == nil {
            edge.before = nil
            edge.after = []
        }
        return edge
    }

    /// Whether it may take this step by itself. One with scenes comes forward with them, and falls back when none of
    /// them is as far in front as it is.
    func mayTake(_ edge: Route.Edge) -> Bool {
        guard hasScenes, edge.process == nil else { return true }
        return edge.to == .inactive
            ? edge.from == .active && self.scenes.activeCount == 0
            : edge.to == .background && self.scenes.appState == .background
    }

    /// Whether there is something about the scene that it has to be told, or to answer.
    func owesNews(of scene: SceneID) -> Bool {
        awaitedNotice?.scene == scene || self.owed.contains { $0.scene == scene }
    }

    /// Its scenes in the order in which they take their steps: those that stop being active, so that others can have their
    /// place; those that come, in the order of the front, so that the app need not leave it in between; then the others.
    var scenesInOrderOfSteps: [Scene] {
        let front = self.scenes.front.compactMap { self.scenes[$0] }
        let ordered = front + self.scenes.all.filter { !self.scenes.front.contains($0.id) }
        let resigning = ordered.filter { $0.state == .foregroundActive && sceneTarget(of: $0) != .foregroundActive }
        let coming = ordered.filter { sceneTarget(of: $0).isForeground && !resigning.contains($0) }
        return resigning + coming + ordered.filter { !sceneTarget(of: $0).isForeground && !resigning.contains($0) }
    }

    /// Whether a scene may take a step. When the app ends, those that are active resign; the others go with their app,
    /// unless there is somebody to be told.
    func maySceneStep(_ scene: Scene) -> Bool {
        self.target != .notRunning || scene.state == .foregroundActive || isParting && self.state != .active
    }

    /// Whether its scenes are to be told that they are disconnected before it ends. One that has not launched, or that
    /// sleeps, hears of its end first.
    var isParting: Bool {
        guard hasScenes, self.isLinked, !self.isAway, self.hasLaunched, self.state != .suspended else { return false }
        return self.scenes.hasConnected || awaitedNotice?.scene != nil || self.owed.contains { $0.scene != nil }
    }

    /// Why a scene is connected or disconnected, as the app is told.
    func reasonToTell(_ callback: Callback, of scene: SceneID) -> String? {
        switch callback {
        case .sceneWillConnect: self.scenes[scene].map { $0.wasConnected ? "restoration" : $0.origin.rawValue }
        case .sceneDidDisconnect:
            self.wish != .run ? "terminating" : self.scenes[scene]?.isClosing == false ? "reclaimed" : "closed"
        default: nil
        }
    }

    /// What one that begins to listen has to hear of its scenes to know where they are.
    var sceneCatchUp: [Notice] {
        self.scenes.all.flatMap { scene -> [Notice] in
            let callbacks: [Callback] =
                switch scene.state {
                case .unattached: []
                case .foregroundInactive: [.sceneWillConnect, .sceneWillEnterForeground]
                case .foregroundActive: [.sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive]
                case .background, .suspended: [.sceneWillConnect]
                }
            return callbacks.map { Notice($0, scene.id) }
        }
    }
}
