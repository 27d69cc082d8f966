internal import AppChannel
internal import LifecycleClient
internal import LifecycleTypes

/// The callbacks of a scene's life cycle, in the order and with the names of `UISceneDelegate`; by default they do nothing.
///
/// In an app with scenes they replace the methods of `LifecycleDelegate` about the foreground and the active state. If
/// `sceneDidEnterBackground(_:)` does not return within 5 s, lifed kills the app.
@MainActor
public protocol LifecycleSceneDelegate: AnyObject {
    /// Tells the delegate that the scene is connected, and not visible yet. The state is unattached, and background
    /// afterwards.
    ///
    /// `sceneWillEnterForeground(_:)` follows for a visible scene.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - session: The session of the scene, with its content.
    ///   - options: The reason of the connection, and the content.
    func scene(_ scene: LifecycleScene, willConnectTo session: SceneSession, options: LifecycleScene.ConnectionOptions)

    /// Tells the delegate that the scene is about to enter the foreground, for the first time or again. The state is
    /// background, and foregroundInactive afterwards.
    func sceneWillEnterForeground(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is active. The state is foregroundActive.
    func sceneDidBecomeActive(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is about to become inactive, for an interruption or for good. The state is
    /// foregroundActive, and foregroundInactive afterwards.
    func sceneWillResignActive(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is in the background.
    ///
    /// When all scenes are in the background, lifed suspends the app, unless it has a background task or an activity, and may
    /// kill a suspended app. No callback announces either.
    func sceneDidEnterBackground(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is disconnected: the app destroys its window. The state is unattached.
    ///
    /// The session may be connected again, unless `application(_:didDiscardSceneSessions:)` follows.
    func sceneDidDisconnect(_ scene: LifecycleScene)
}

extension LifecycleSceneDelegate {
    /// Does nothing.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - session: The session of the scene, with its content.
    ///   - options: The reason of the connection, and the content.
    public func scene(
        _ scene: LifecycleScene, willConnectTo session: SceneSession, options: LifecycleScene.ConnectionOptions
    ) {}

    /// Does nothing.
    public func sceneWillEnterForeground(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneDidBecomeActive(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneWillResignActive(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneDidEnterBackground(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneDidDisconnect(_ scene: LifecycleScene) {}
}

/// The configuration of a new scene.
@MainActor
public struct SceneConfiguration {
    /// The delegate of the scene; nil for none.
    public var delegate: (any LifecycleSceneDelegate)?

    /// Creates a configuration.
    ///
    /// - Parameter delegate: The delegate of the scene; nil for none.
    public init(delegate: (any LifecycleSceneDelegate)? = nil) {
        self.delegate = delegate
    }
}

/// A scene of an app with `scenes = true` in its manifest: usually a window, with a foreground of its own.
///
/// It exists from ``LifecycleSceneDelegate/scene(_:willConnectTo:options:)`` to ``LifecycleSceneDelegate/sceneDidDisconnect(_:)``. If
/// lifed disconnects it to free memory, its session stays, and can be connected again.
@MainActor
public final class LifecycleScene {
    /// The states of a scene that it can see: while its app is suspended, it does not run.
    public enum ActivationState: Hashable, Sendable {
        /// Not connected.
        case unattached
        /// In the foreground, without input: during an interruption or a change.
        case foregroundInactive
        /// In the foreground and in use.
        case foregroundActive
        /// In the background.
        case background
    }

    /// The options of a scene's connection.
    public struct ConnectionOptions: Hashable, Sendable {
        /// The origin of the scene, such as a restoration.
        public var reason: ConnectionReason
        /// The content of the scene, in the app's own format; nil for none. The session has it, too.
        public var userInfo: String?

        /// Creates the options.
        ///
        /// - Parameters:
        ///   - reason: The reason of the connection.
        ///   - userInfo: The content of the scene, in the app's own format; nil for none.
        public init(reason: ConnectionReason = .user, userInfo: String? = nil) {
            self.reason = reason
            self.userInfo = userInfo
        }
    }

    /// The reason of a scene's connection. The list is open: lifed may have other reasons.
    public struct ConnectionReason: RawRepresentable, Hashable, Sendable {
        /// The word of the app protocol.
        public let rawValue: String

        /// Creates the reason of a word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A user opened the scene.
        public static let user = ConnectionReason(rawValue: SceneReason.user.rawValue)
        /// The system needs the scene, usually in the background.
        public static let system = ConnectionReason(rawValue: SceneReason.system.rawValue)
        /// The app requested the scene.
        public static let app = ConnectionReason(rawValue: SceneReason.app.rawValue)
        /// The scene existed before, and is to be restored.
        public static let restoration = ConnectionReason(rawValue: SceneReason.restoration.rawValue)
    }

    /// The session, which outlives the connection of the scene.
    public let session: SceneSession

    /// The delegate, which gets the events of the scene. A strong reference until the scene is disconnected.
    public var delegate: (any LifecycleSceneDelegate)?

    init(_ session: SceneSession) {
        self.session = session
    }

    /// The state of the scene.
    public var activationState: ActivationState {
        guard session.scene === self else { return .unattached }
        return switch session.record?.state {
        case .foregroundActive: .foregroundActive
        case .foregroundInactive: .foregroundInactive
        case .background, .suspended: .background
        case .unattached, nil: .unattached
        }
    }
}

/// The part of a scene that outlives its connection: its name, role and content.
@MainActor
public final class SceneSession {
    /// The role of a scene. The app defines its roles.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// A word of 1 to 64 letters, digits, dots, underscores and hyphens.
        public let rawValue: String

        /// Creates the role of a word.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A window, the default.
        public static let window = Role(rawValue: SceneText.defaultRole)
    }

    /// The limit of `userInfo`, in bytes of UTF-8.
    public nonisolated static var userInfoLimit: Int { SceneText.infoLimit }

    /// The identifier of the session, unique within the app and the same across launches.
    public let persistentIdentifier: String
    /// The role of the scene.
    public let role: Role
    /// The scene, while it is connected.
    public internal(set) weak var scene: LifecycleScene?

    let id: SceneID
    private weak var application: LifecycleApplication?

    init(_ id: SceneID, role: String, of application: LifecycleApplication) {
        self.id = id
        self.application = application
        persistentIdentifier = id.name
        self.role = Role(rawValue: role)
    }

    var record: SceneRecord? { application?.client?.scenes.first { $0.id == id } }

    /// The content of the scene, in the app's own format, usually JSON; nil for none.
    ///
    /// lifed keeps it, and the app gets it when the scene is connected again, in this process or a later one.
    public var userInfo: String? { record?.info }

    /// Sets the content of the scene. The right time is ``LifecycleSceneDelegate/sceneDidEnterBackground(_:)``.
    ///
    /// - Parameter userInfo: At most ``userInfoLimit`` bytes; nil for none.
    /// - Throws: ``SceneError``.
    public func setUserInfo(_ userInfo: String?) throws(SceneError) {
        guard let client = application?.client else { throw .noSuchSession }
        do throws(SceneRequestError) { try client.setSceneInfo(userInfo, of: id) } catch { throw SceneError(error) }
    }
}

/// The error of a request for a scene.
public enum SceneError: Error, Hashable, Sendable {
    /// The identifier or the role is not of 1 to 64 letters, digits, dots, underscores and hyphens.
    case malformedName
    /// The text has more than `SceneSession.userInfoLimit` bytes, or a NUL.
    case unusableUserInfo
    /// The app was not started, or the session is closed.
    case noSuchSession
    /// Too many requests wait for lifed.
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
    /// The error as a sentence.
    public var description: String {
        switch self {
        case .malformedName:
            "cannot request the scene: its identifier or role is malformed; use 1 to 64 letters, digits, dots, underscores and hyphens"
        case .unusableUserInfo:
            "cannot set the content of the scene: it has a NUL or more than 4096 bytes; use a shorter text"
        case .noSuchSession:
            "cannot find the scene: the app was not started, or the scene is closed; request a new scene"
        case .tooManyRequests: "cannot send the request: too many requests wait for lifed; try again later"
        }
    }
}

extension LifecycleApplication {
    /// The connected scenes, in the order of their first connection.
    public var connectedScenes: [LifecycleScene] { openSessions.compactMap { $0.scene } }

    /// Requests a scene: the scene of a session, or a new one.
    ///
    /// If the app is in the foreground, the scene comes to the foreground, and lifed may send other scenes to the background.
    /// Otherwise the scene stays in the background. `scene(_:willConnectTo:options:)` follows unless the scene is connected.
    ///
    /// - Parameters:
    ///   - session: The session; nil for a new scene.
    ///   - role: The role of a new scene.
    ///   - userInfo: The content of a new scene.
    /// - Throws: ``SceneError``.
    public func requestSceneSessionActivation(
        _ session: SceneSession? = nil, role: SceneSession.Role? = nil, userInfo: String? = nil
    ) throws(SceneError) {
        try requestScene(session?.id, role: role, userInfo: userInfo)
    }

    /// Requests the scene with this identifier, in the same way: a new scene if there is no such session.
    ///
    /// - Parameters:
    ///   - identifier: An identifier that the app has chosen.
    ///   - role: The role of a new scene.
    ///   - userInfo: The content of a new scene.
    /// - Throws: ``SceneError``.
    public func requestSceneSessionActivation(
        identifier: String, role: SceneSession.Role? = nil, userInfo: String? = nil
    ) throws(SceneError) {
        guard let id = SceneID(identifier) else { throw .malformedName }
        try requestScene(id, role: role, userInfo: userInfo)
    }

    /// Requests the end of a scene and its session. A session that has ended is ignored.
    ///
    /// - Parameter session: The session of the scene.
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
        guard let id = callback.fields.scene, let session = openSessions.first(where: { $0.id == id }) else { return }
        let isClosed = SceneDisconnectionFields(callback.fields)?.reason == SceneDisconnectionFields.closed
        // A scene that is not connected has no delegate.
        guard let scene = session.scene else {
            if callback.kind == .sceneDidDisconnect, isClosed { discard(session) }
            return
        }
        switch callback.kind.role {
        case .arrival:
            scene.delegate?.sceneWillEnterForeground(scene)
            observers.send(.sceneWillEnterForeground(id.name))
        case .activation:
            scene.delegate?.sceneDidBecomeActive(scene)
            observers.send(.sceneDidBecomeActive(id.name))
        case .resignation:
            scene.delegate?.sceneWillResignActive(scene)
            observers.send(.sceneWillResignActive(id.name))
        case .background:
            scene.delegate?.sceneDidEnterBackground(scene)
            observers.send(.sceneDidEnterBackground(id.name))
        case .disconnection:
            disconnect(scene, isClosed: isClosed)
            observers.send(.sceneDidDisconnect(id.name))
        case .launch, .event, .notice: break
        }
    }

    private func connect(_ fields: SceneConnectionFields) {
        let options = LifecycleScene.ConnectionOptions(
            reason: LifecycleScene.ConnectionReason(rawValue: fields.reason), userInfo: fields.info)
        let known = openSessions.first { $0.id == fields.scene && $0.role.rawValue == fields.role }
        let session = known ?? SceneSession(fields.scene, role: fields.role, of: self)
        if known == nil {
            openSessions.removeAll { $0.id == fields.scene }
            openSessions.append(session)
        }
        let scene = LifecycleScene(session)
        scenes[fields.scene] = scene
        session.scene = scene
        let configuration = delegate?.application(self, configurationForConnecting: session, options: options)
        // The delegate may have stopped the app.
        guard scenes[fields.scene] === scene else { return }
        scene.delegate = configuration?.delegate
        scene.delegate?.scene(scene, willConnectTo: session, options: options)
        observers.send(.sceneWillConnect(session.persistentIdentifier, options))
    }

    private func disconnect(_ scene: LifecycleScene, isClosed: Bool) {
        let session = scene.session
        scene.delegate?.sceneDidDisconnect(scene)
        scene.delegate = nil
        session.scene = nil
        scenes[session.id] = nil
        if isClosed { discard(session) }
    }

    private func discard(_ session: SceneSession) {
        openSessions.removeAll { $0 === session }
        delegate?.application(self, didDiscardSceneSessions: [session])
    }
}
