public import LifecycleTypes

extension SceneID {
    /// The first scene of an app, unless the app or a client names it otherwise.
    public static var main: SceneID { SceneID(ordinal: 1) }
}

/// The fields of `scene-will-connect`.
public struct SceneConnectionFields: Equatable, Sendable {
    /// The identifier of the scene to connect.
    public var scene: SceneID
    /// The role, such as `window`.
    public var role: String
    /// The reason: a ``SceneReason``, or a word of a later version.
    public var reason: String
    /// The content, in the app's own format; nil for none.
    public var info: String?

    /// Creates the fields.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - role: The role, such as `window`.
    ///   - reason: A ``SceneReason``, or a word of a later version.
    ///   - info: The content, in the app's own format; nil for none.
    public init(
        scene: SceneID, role: String = SceneText.defaultRole, reason: String, info: String? = nil
    ) {
        self.scene = scene
        self.role = role
        self.reason = reason
        self.info = info
    }

    /// Reads the fields of a callback; nil if they name no scene.
    public init?(_ fields: [Field]) {
        guard let scene = fields.scene else { return nil }
        self.init(
            scene: scene, role: fields.value(of: "role") ?? SceneText.defaultRole,
            reason: fields.value(of: "reason") ?? SceneReason.user.rawValue, info: fields.value(of: "info"))
    }

    /// The fields to send.
    public var fields: [Field] {
        [Field("scene", scene.name), Field("role", role), Field("reason", reason)] + .info(info)
    }
}

/// The fields of `scene-did-disconnect`.
public struct SceneDisconnectionFields: Equatable, Sendable {
    /// The identifier of the disconnected scene.
    public var scene: SceneID
    /// The reason: `closed`, after which the session is forgotten, `reclaimed` or `terminating`.
    public var reason: String

    /// The word for a scene that does not come back.
    public static let closed = SceneReason.closed.rawValue

    /// Creates the fields.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - reason: The reason: `closed`, `reclaimed` or `terminating`.
    public init(scene: SceneID, reason: String) {
        self.scene = scene
        self.reason = reason
    }

    /// Reads the fields of a callback; nil if they name no scene.
    public init?(_ fields: [Field]) {
        guard let scene = fields.scene else { return nil }
        self.init(scene: scene, reason: fields.value(of: "reason") ?? Self.closed)
    }

    /// The fields to send.
    public var fields: [Field] { [Field("scene", scene.name), Field("reason", reason)] }
}

extension [Field] {
    /// The scene of a callback; nil if it names none.
    public var scene: SceneID? {
        value(of: "scene").flatMap { SceneID($0) }
    }

    /// Returns the only field of a message that names a scene.
    public static func scene(_ scene: SceneID) -> [Field] {
        [Field("scene", scene.name)]
    }

    static func role(_ role: String?) -> [Field] {
        role.map { [Field("role", $0)] } ?? []
    }

    static func info(_ info: String?) -> [Field] {
        info.map { [Field("info", $0)] } ?? []
    }

    func requiredScene() throws(LineError) -> SceneID {
        guard let scene = SceneID(try required("scene")) else { throw .unknownValue(key: "scene") }
        return scene
    }

    /// Returns the scene that an app names; nil if the daemon is to name it.
    func optionalScene() throws(LineError) -> SceneID? {
        try value(of: "scene") == nil ? nil : requiredScene()
    }

    func optionalRole() throws(LineError) -> String? {
        guard let role = value(of: "role") else { return nil }
        guard SceneID.isWord(role) else { throw .unknownValue(key: "role") }
        return role
    }

    func optionalInfo() throws(LineError) -> String? {
        guard let info = value(of: "info") else { return nil }
        guard info.utf8.count <= SceneText.infoLimit else { throw .unknownValue(key: "info") }
        return info
    }
}
