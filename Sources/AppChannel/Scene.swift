/// What tells an app's scenes apart: the `scene` of a callback and of what the app says about one.
public struct SceneID: RawRepresentable, Hashable, Sendable {
    /// From 1 to 64 letters, digits, dots, underscores and hyphens of ASCII.
    public let rawValue: String

    /// The id with this text, or nil when it has another form.
    public init?(rawValue: String) {
        guard Self.isWord(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// The first scene of an app, unless somebody names it otherwise.
    public static let main = SceneID(known: "main")

    private init(known id: StaticString) {
        rawValue = "\(id)"
    }

    /// The most bytes that an id or a role has.
    public static let limit = 64

    /// Whether a text has the form of an id, which is that of a role too.
    public static func isWord(_ text: String) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy(isWordByte)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}

/// The limits and defaults of what is said about a scene.
public enum SceneProtocol {
    /// The role of a scene that was given none.
    public static let defaultRole = "window"

    /// The most bytes of UTF-8 that the info of a scene has. A line has room for them however they are encoded.
    public static let infoLimit = 4096
}

/// What `scene-will-connect` says.
public struct SceneConnectionFields: Equatable, Sendable {
    /// Which scene it is.
    public var scene: SceneID
    /// What the scene is for, such as `window`.
    public var role: String
    /// Who wants it, in the daemon's words: `person`, `system`, `app` or `restoration`.
    public var reason: String
    /// What the scene is to show, in words that only the app understands; nil when there is nothing.
    public var info: String?

    /// The fields of a connection for this reason.
    public init(
        scene: SceneID, role: String = SceneProtocol.defaultRole, reason: String, info: String? = nil
    ) {
        self.scene = scene
        self.role = role
        self.reason = reason
        self.info = info
    }

    /// Reads the fields of a callback; nil when they name no scene.
    public init?(_ fields: [Field]) {
        guard let scene = fields.scene else { return nil }
        self.init(
            scene: scene, role: fields.value(of: "role") ?? SceneProtocol.defaultRole,
            reason: fields.value(of: "reason") ?? "person", info: fields.value(of: "info"))
    }

    /// The fields as they are sent.
    public var fields: [Field] {
        [Field("scene", scene.rawValue), Field("role", role), Field("reason", reason)] + .info(info)
    }
}

/// What `scene-did-disconnect` says.
public struct SceneDisconnectionFields: Equatable, Sendable {
    /// Which scene it is.
    public var scene: SceneID
    /// Why: `closed`, after which the session is forgotten, `reclaimed` or `terminating`.
    public var reason: String

    /// The word for a scene that does not come back.
    public static let closed = "closed"

    /// The fields of a disconnection for this reason.
    public init(scene: SceneID, reason: String) {
        self.scene = scene
        self.reason = reason
    }

    /// Reads the fields of a callback; nil when they name no scene.
    public init?(_ fields: [Field]) {
        guard let scene = fields.scene else { return nil }
        self.init(scene: scene, reason: fields.value(of: "reason") ?? Self.closed)
    }

    /// The fields as they are sent.
    public var fields: [Field] { [Field("scene", scene.rawValue), Field("reason", reason)] }
}

extension [Field] {
    /// The scene that a callback is about, or nil when it is about none.
    public var scene: SceneID? {
        value(of: "scene").flatMap { SceneID(rawValue: $0) }
    }

    /// The field that says which scene it is about, and nothing else.
    public static func scene(_ scene: SceneID) -> [Field] {
        [Field("scene", scene.rawValue)]
    }

    static func role(_ role: String?) -> [Field] {
        role.map { [Field("role", $0)] } ?? []
    }

    static func info(_ info: String?) -> [Field] {
        info.map { [Field("info", $0)] } ?? []
    }

    func requiredScene() throws(LineError) -> SceneID {
        guard let scene = SceneID(rawValue: try required("scene")) else { throw .unknownValue(key: "scene") }
        return scene
    }

    /// The scene that an app names, or nil when it leaves the name to the daemon.
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
        guard info.utf8.count <= SceneProtocol.infoLimit else { throw .unknownValue(key: "info") }
        return info
    }
}
