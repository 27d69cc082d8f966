internal import AppChannel
internal import LifecycleClient

extension Application {
    /// The scenes that are connected, in the order in which they were first.
    public var connectedScenes: [Scene] { openSessions.compactMap { $0.scene } }

    /// Asks for a scene: the one of a session, or a new one. It comes to the front when the app is there, for which lifed may
    /// let other scenes go to the background, and is out of sight otherwise. `scene(_:willConnectTo:options:)` follows where
    /// it is not connected.
    ///
    /// A role and a text are for a new scene. Throws a `SceneError`.
    public func requestSceneSessionActivation(
        _ session: SceneSession? = nil, role: SceneSession.Role? = nil, userInfo: String? = nil
    ) throws(SceneError) {
        try requestScene(session?.id, role: role, userInfo: userInfo)
    }

    /// Asks in the same way for the scene with an identifier of the app's own choice: a new one where there is no such
    /// session.
    ///
    /// A role and a text are for a new scene. Throws a `SceneError`.
    public func requestSceneSessionActivation(
        identifier: String, role: SceneSession.Role? = nil, userInfo: String? = nil
    ) throws(SceneError) {
        guard let id = SceneID(rawValue: identifier) else { throw .malformedName }
        try requestScene(id, role: role, userInfo: userInfo)
    }

    /// Asks to be rid of a scene and its session. One that is not there any more is left alone.
    public func requestSceneSessionDestruction(_ session: SceneSession) {
        client?.closeScene(session.id)
    }

    private func requestScene(_ id: SceneID?, role: SceneSession.Role?, userInfo: String?) throws(SceneError) {
        guard let client else { throw .noSuchSession }
        do throws(SceneRequestError) {
            try client.openScene(id, role: role?.rawValue, info: userInfo)
        } catch {
            throw SceneError(error)
        }
    }

    // MARK: - Delivery

    /// Tells a scene's delegate, and then the observers.
    func deliverToScene(_ callback: CallbackMessage) {
        if callback.kind == .sceneWillConnect {
            if let fields = SceneConnectionFields(callback.fields) { connect(fields) }
            return
        }
        // A scene that was never connected has nobody who could hear of it.
        guard let id = callback.fields.scene, let scene = openSessions.first(where: { $0.id == id })?.scene else {
            return
        }
        switch callback.kind {
        case .sceneWillEnterForeground: scene.delegate?.sceneWillEnterForeground(scene)
        case .sceneDidBecomeActive: scene.delegate?.sceneDidBecomeActive(scene)
        case .sceneWillResignActive: scene.delegate?.sceneWillResignActive(scene)
        case .sceneDidEnterBackground: scene.delegate?.sceneDidEnterBackground(scene)
        default: disconnect(scene, SceneDisconnectionFields(callback.fields)?.reason)
        }
        ApplicationEvent(callback.kind, id.rawValue).map { observers.tell($0) }
    }

    private func connect(_ fields: SceneConnectionFields) {
        let options = Scene.ConnectionOptions(
            reason: Scene.ConnectionReason(rawValue: fields.reason), userInfo: fields.info)
        let known = openSessions.first { $0.id == fields.scene && $0.role.rawValue == fields.role }
        let session = known ?? SceneSession(fields.scene, role: fields.role, of: self)
        if known == nil {
            openSessions.removeAll { $0.id == fields.scene }
            openSessions.append(session)
        }
        let scene = Scene(session)
        scenes[fields.scene] = scene
        session.scene = scene
        scene.delegate = delegate?.application(self, configurationForConnecting: session, options: options).delegate
        scene.delegate?.scene(scene, willConnectTo: session, options: options)
        observers.tell(.sceneWillConnect(session.persistentIdentifier, options))
    }

    private func disconnect(_ scene: Scene, _ reason: String?) {
        let session = scene.session
        scene.delegate?.sceneDidDisconnect(scene)
        scene.delegate = nil
        session.scene = nil
        scenes[session.id] = nil
        guard reason == SceneDisconnectionFields.closed else { return }
        openSessions.removeAll { $0 === session }
        delegate?.application(self, didDiscardSceneSessions: [session])
    }
}

extension ApplicationEvent {
    /// The event that tells observers of a callback about a scene that is connected.
    fileprivate init?(_ kind: CallbackKind, _ scene: String) {
        switch kind {
        case .sceneWillEnterForeground: self = .sceneWillEnterForeground(scene)
        case .sceneDidBecomeActive: self = .sceneDidBecomeActive(scene)
        case .sceneWillResignActive: self = .sceneWillResignActive(scene)
        case .sceneDidEnterBackground: self = .sceneDidEnterBackground(scene)
        case .sceneDidDisconnect: self = .sceneDidDisconnect(scene)
        default: return nil
        }
    }
}
