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
