import AppChannel
public import LifecycleTypes

/// The error of a request for a scene that the library does not send.
public enum SceneRequestError: Error, Sendable {
    /// The role is not of 1 to 64 letters, digits, dots, underscores and hyphens.
    case malformedRole
    /// The info has more than `SceneText.infoLimit` bytes, or a NUL.
    case unusableInfo
    /// The app has not heard of such a scene, or it is closed.
    case noSuchScene
    /// So much waits for the daemon already that nothing is added.
    case tooManyRequests
}

extension AppSession {
    /// The number of requests for scenes that may wait for a welcome: more than an app may have scenes.
    static let waitingScenesLimit = 64

    /// The known scenes, in the order of their first connection.
    public var allScenes: [SceneRecord] { scenes.scenes }

    /// Requests a scene: a new one, or the scene with this id.
    ///
    /// - Parameters:
    ///   - id: The id of the scene; nil for a new scene with a free id.
    ///   - role: The role of a new scene; nil for the default.
    ///   - info: The content of the scene, in the app's own format; nil for none.
    /// - Throws: ``SceneRequestError``.
    public mutating func openScene(
        _ id: SceneID?, role: String?, info: String?
    ) throws(SceneRequestError) {
        if let role, !SceneID.isWord(role) { throw .malformedRole }
        try check(info)
        if isManaged {
            try request(.openScene(id, role: role, info: info))
        } else {
            showScene(id ?? expectedScenes.freeID(), role: role, info: info)
        }
        if let id { scenes.reopen(id) }
    }

    private mutating func request(_ opening: MessageFromApp) throws(SceneRequestError) {
        if isOpen {
            try checkRoom()
            send(opening)
        } else {
            guard waitingScenes.count < Self.waitingScenesLimit else { throw .tooManyRequests }
            waitingScenes.append(opening)
        }
    }

    /// Requests the end of a scene, or takes back a request for it that waits. An unknown scene is ignored.
    public mutating func closeScene(_ id: SceneID) {
        if isManaged {
            waitingScenes.removeAll { if case .openScene(id, _, _) = $0 { true } else { false } }
            guard scenes[id] != nil else { return }
            scenes.close(id)
            send(.closeScene(id))
        } else if let scene = expectedScenes[id] {
            if scenes[id] != nil { scenes.close(id) }
            removeScene(scene)
        }
    }

    /// Sets the content of a scene, which the app gets back with the restored scene.
    ///
    /// - Parameters:
    ///   - info: The content, in the app's own format; nil for none.
    ///   - id: The scene.
    /// - Throws: ``SceneRequestError``.
    public mutating func setSceneInfo(_ info: String?, of id: SceneID) throws(SceneRequestError) {
        try check(info)
        // A client may have opened a scene again whose end the daemon has.
        guard let scene = scenes[id], !scene.isEndUnconfirmed else { throw .noSuchScene }
        guard scene.info != info else { return }
        try checkRoom()
        scenes.setInfo(info, of: id)
        send(.sceneInfo(id, info: info))
    }

    private func check(_ info: String?) throws(SceneRequestError) {
        guard let info else { return }
        guard info.utf8.count <= SceneText.infoLimit, !info.utf8.contains(0) else { throw .unusableInfo }
    }

    private func checkRoom() throws(SceneRequestError) {
        guard output.count <= Self.outputLimit else { throw .tooManyRequests }
    }

    /// Returns the state of the app after a callback about a scene.
    func stateAfter(_ callback: CallbackMessage) -> RunningState {
        let resigns = callback.kind == .sceneWillResignActive && !scenes.isActive
        let returns = callback.kind == .sceneWillEnterForeground && state == .background
        return resigns || returns ? .inactive : state
    }

    // MARK: - Without a daemon

    /// Does what the daemon was requested to do when it manages the app no more: the scenes that are closing end, and those of the
    /// requests are connected.
    mutating func fulfillSceneRequests(_ openings: [MessageFromApp]) {
        for scene in scenes.scenes where scene.closing != .none { closeScene(scene.id) }
        for case .openScene(let id, let role, let info) in openings {
            showScene(id ?? expectedScenes.freeID(), role: role, info: info)
        }
    }

    /// The scenes after the callbacks that the app handles or that wait for it. A request without a daemon starts from these.
    private var expectedScenes: SceneTable {
        var expected = scenes
        if let handledSceneCallback { expected.finish(handledSceneCallback) }
        for case .callback(let callback) in events {
            expected.begin(callback)
            expected.finish(callback)
        }
        return expected
    }

    /// Tells an app without a daemon that the scene is in the foreground.
    mutating func showScene(_ id: SceneID, role: String? = nil, info: String? = nil, reason: SceneReason = .app) {
        // A scene whose end waits for the app is not among these: it is connected as a new one.
        let expected = expectedScenes
        let known = expected[id]
        let state: RunningState = expected.isActive ? .active : .inactive
        if known == nil || known?.state == .unattached {
            let connection = SceneConnectionFields(
                scene: id, role: role ?? known?.role ?? SceneText.defaultRole, reason: reason.rawValue,
                info: info ?? known?.info)
            queue(.sceneWillConnect, state, connection.fields)
        }
        guard known?.state != .foregroundActive else { return }
        if known?.state != .foregroundInactive { queue(.sceneWillEnterForeground, state, .scene(id)) }
        queue(.sceneDidBecomeActive, .active, .scene(id))
    }

    /// Tells an app that has scenes, and that was released, that they are in the foreground. Without a connected scene, it gets one.
    mutating func showConnectedScenes() {
        let connected = expectedScenes.scenes.filter { $0.state != .unattached }
        for scene in connected { showScene(scene.id) }
        if connected.isEmpty { showScene(.main, reason: .system) }
    }

    private mutating func removeScene(_ scene: SceneRecord) {
        if scene.state == .foregroundActive { queue(.sceneWillResignActive, .active, .scene(scene.id)) }
        let state: RunningState =
            expectedScenes.scenes.contains { $0.id != scene.id && $0.state == .foregroundActive }
            ? .active : .background
        if scene.state != .background, scene.state != .unattached {
            queue(.sceneDidEnterBackground, state, .scene(scene.id))
        }
        let fields = SceneDisconnectionFields(scene: scene.id, reason: SceneDisconnectionFields.closed).fields
        queue(.sceneDidDisconnect, state, fields)
    }

    /// Queues a callback of the library itself, whose answer is dropped.
    mutating func queue(_ kind: Callback, _ state: RunningState, _ fields: [Field] = []) {
        let callback = CallbackMessage(
            kind, sequence: .ofSession, deadlineMilliseconds: 0, state: state, fields: fields)
        events.append(.callback(callback))
    }
}
