internal import AppChannel
internal import LifecycleClient

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
