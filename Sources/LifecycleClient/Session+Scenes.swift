public import AppChannel

/// Why the library does not pass on what an app asks for a scene.
public enum SceneRequestError: Error, Sendable {
    /// The role is not of 1 to 64 letters, digits, dots, underscores and hyphens.
    case malformedRole
    /// The info has more than `SceneProtocol.infoLimit` bytes, or a NUL.
    case unusableInfo
    /// The app has not heard of such a scene, or it is closed.
    case noSuchScene
    /// So much waits for the daemon already that nothing is added.
    case tooManyRequests
}

extension Session {
    /// While there is no channel, so many requests for scenes wait for one: more than an app may have scenes.
    static let waitingScenesLimit = 64

    /// The scenes that the app has heard of and that are not closed for good, in the order in which it has.
    public var allScenes: [SceneRecord] { scenes.scenes }

    /// Asks for a scene: a new one, or the one with this id. Throws a `SceneRequestError`.
    public mutating func openScene(
        _ id: SceneID?, role: String?, info: String?
    ) throws(SceneRequestError) {
        if let role, !SceneID.isWord(role) { throw .malformedRole }
        try check(info)
        if !isManaged { return showScene(id ?? scenes.freeID(), role: role, info: info) }
        let message = MessageFromApp.openScene(id, role: role, info: info)
        if isLost {
            guard waitingScenes.count < Self.waitingScenesLimit else { throw .tooManyRequests }
            waitingScenes.append(message)
        } else {
            try checkRoom()
            send(message)
        }
    }

    /// Asks to be rid of a scene. One that is not there is left alone.
    public mutating func closeScene(_ id: SceneID) {
        guard let scene = scenes[id] else { return }
        scenes.close(id)
        if isManaged { send(.closeScene(id)) } else { removeScene(scene) }
    }

    /// Says what a scene shows, to be given back with it when it is restored. Throws a `SceneRequestError`.
    public mutating func setSceneInfo(_ info: String?, of id: SceneID) throws(SceneRequestError) {
        try check(info)
        guard let scene = scenes[id], !scene.isClosing else { throw .noSuchScene }
        guard scene.info != info else { return }
        try checkRoom()
        scenes.setInfo(info, of: id)
        send(.sceneInfo(id, info: info))
    }

    private func check(_ info: String?) throws(SceneRequestError) {
        guard let info else { return }
        guard info.utf8.count <= SceneProtocol.infoLimit, !info.utf8.contains(0) else { throw .unusableInfo }
    }

    private func checkRoom() throws(SceneRequestError) {
        guard output.count <= Self.outputLimit else { throw .tooManyRequests }
    }

    /// The state that the app is in once it has dealt with a callback about a scene.
    func stateAfter(_ callback: CallbackMessage) -> ReportedState {
        switch callback.kind {
        case .sceneWillResignActive where !scenes.isActive: .inactive
        case .sceneWillEnterForeground where state == .background: .inactive
        default: state
        }
    }

    // MARK: - Without a daemon

    /// What an app is told that nobody manages, when it wants a scene: that it is in front.
    mutating func showScene(_ id: SceneID, role: String? = nil, info: String? = nil, reason: String = "app") {
        let known = scenes[id]
        if known == nil || known?.state == .unattached {
            let connection = SceneConnectionFields(
                scene: id, role: role ?? known?.role ?? SceneProtocol.defaultRole, reason: reason,
                info: info ?? known?.info)
            tell(.sceneWillConnect, .inactive, connection.fields)
        }
        guard known?.state != .foregroundActive else { return }
        tell(.sceneWillEnterForeground, .inactive, .scene(id))
        tell(.sceneDidBecomeActive, .active, .scene(id))
    }

    private mutating func removeScene(_ scene: SceneRecord) {
        if scene.state == .foregroundActive { tell(.sceneWillResignActive, .active, .scene(scene.id)) }
        let state: ReportedState =
            scenes.scenes.contains { $0.id != scene.id && $0.state == .foregroundActive }
            ? .active : .background
        if scene.state != .background, scene.state != .unattached {
            tell(.sceneDidEnterBackground, state, .scene(scene.id))
        }
        let fields = SceneDisconnectionFields(scene: scene.id, reason: SceneDisconnectionFields.closed).fields
        tell(.sceneDidDisconnect, state, fields)
    }

    /// Has the app hear a callback that nobody has sent, and to which nobody waits for an answer.
    mutating func tell(_ kind: CallbackKind, _ state: ReportedState, _ fields: [Field] = []) {
        let callback = CallbackMessage(
            kind, sequence: SequenceNumber(rawValue: 0), deadlineMilliseconds: 0, state: state, fields: fields)
        events.append(.callback(callback))
    }
}
