internal import AppChannel
internal import LifecycleClient

/// A scene of the app: a window, as a rule, that comes to the front and leaves it independently of the app's others.
///
/// An app has scenes when its manifest says `scenes = true`. A scene is there from `scene(_:willConnectTo:options:)` to
/// `sceneDidDisconnect(_:)`; its session outlives it when the system took it away for its memory, and can be connected
/// again.
@MainActor
public final class Scene {
    /// Where a scene is, as far as it can see. While its app is suspended it does not run, and so never sees that.
    public enum ActivationState: Hashable, Sendable {
        /// Not connected yet, or not any more.
        case unattached
        /// In front and not in use: interrupted, or about to come or to leave.
        case foregroundInactive
        /// In front and in use.
        case foregroundActive
        /// Out of sight.
        case background
    }

    /// What there is to know about a scene that is being connected, beside its session.
    public struct ConnectionOptions: Hashable, Sendable {
        /// Who wants it.
        public var reason: ConnectionReason
        /// What it is to show, in words that only the app understands; nil when there is nothing. The session has it too.
        public var userInfo: String?

        /// Options of a connection for this reason.
        public init(reason: ConnectionReason = .person, userInfo: String? = nil) {
            self.reason = reason
            self.userInfo = userInfo
        }
    }

    /// Who wants a scene. The list is open: lifed may have reasons that are not named here.
    public struct ConnectionReason: RawRepresentable, Hashable, Sendable {
        /// lifed's word for the reason.
        public let rawValue: String

        /// The reason with this word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Somebody has opened it.
        public static let person = ConnectionReason(rawValue: "person")
        /// The system needs it; it is out of sight as a rule.
        public static let system = ConnectionReason(rawValue: "system")
        /// The app has asked for it.
        public static let app = ConnectionReason(rawValue: "app")
        /// It was there before, and is to be as it was.
        public static let restoration = ConnectionReason(rawValue: "restoration")
    }

    /// What stays of the scene when it is not connected.
    public let session: SceneSession

    /// Whom the scene's events go to. Held strongly, until the scene is disconnected.
    public var delegate: (any SceneDelegate)?

    init(_ session: SceneSession) {
        self.session = session
    }

    /// Where the scene is.
    public var activationState: ActivationState {
        guard session.scene === self else { return .unattached }
        return switch session.record?.state {
        case .foregroundActive: .foregroundActive
        case .foregroundInactive: .foregroundInactive
        case .background: .background
        case .unattached, nil: .unattached
        }
    }
}

/// What stays of a scene when it is not connected: its name, what it is for and what it shows.
@MainActor
public final class SceneSession {
    /// What a scene is for. The list is the app's own.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// A word of 1 to 64 letters, digits, dots, underscores and hyphens.
        public let rawValue: String

        /// The role with this word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A window like any other.
        public static let window = Role(rawValue: SceneProtocol.defaultRole)
    }

    /// The most bytes of UTF-8 that `userInfo` has.
    public nonisolated static var userInfoLimit: Int { SceneProtocol.infoLimit }

    /// What tells the session from the app's others; the same for as long as the session is kept, across launches.
    public let persistentIdentifier: String
    /// What the scene is for.
    public let role: Role
    /// The scene, while it is connected.
    public internal(set) weak var scene: Scene?

    let id: SceneID
    private weak var application: Application?

    init(_ id: SceneID, role: String, of application: Application) {
        self.id = id
        self.application = application
        persistentIdentifier = id.rawValue
        self.role = Role(rawValue: role)
    }

    var record: SceneRecord? { application?.client?.scenes.first { $0.id == id } }

    /// What the scene shows, in words that only the app understands, JSON by custom; nil when there is nothing.
    ///
    /// lifed keeps it, and the app gets it back with the scene when that is connected again, in this process or a later one.
    public var userInfo: String? { record?.info }

    /// Says what the scene shows. Throws a `SceneError`.
    public func setUserInfo(_ userInfo: String?) throws(SceneError) {
        guard let client = application?.client else { throw .noSuchSession }
        do throws(SceneRequestError) { try client.setSceneInfo(userInfo, of: id) } catch { throw SceneError(error) }
    }
}

/// Why what an app asks for a scene is not passed on to lifed.
public enum SceneError: Error, Hashable, Sendable {
    /// The identifier or the role is not of 1 to 64 letters, digits, dots, underscores and hyphens.
    case malformedName
    /// The text has more than `SceneSession.userInfoLimit` bytes, or a NUL.
    case unusableUserInfo
    /// The app was not started, or the session is closed.
    case noSuchSession
    /// So much waits for lifed already that nothing is added.
    case tooManyRequests

    init(_ error: SceneRequestError) {
        self =
            switch error {
            case .malformedRole: .malformedName
            case .unusableInfo: .unusableUserInfo
            case .noSuchScene: .noSuchSession
            case .tooManyRequests: .tooManyRequests
            }
    }
}

extension SceneError: CustomStringConvertible {
    /// A sentence that says why.
    public var description: String {
        switch self {
        case .malformedName: "A scene's identifier and role are 1 to 64 letters, digits, dots, underscores and hyphens."
        case .unusableUserInfo: "What a scene shows is a text of at most 4096 bytes without NUL."
        case .noSuchSession: "There is no such scene."
        case .tooManyRequests: "Too many requests wait for lifed."
        }
    }
}

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
