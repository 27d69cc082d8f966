/// One window of an app, or what else the app shows in one piece: its state, and its session, which outlives the process.
public struct Scene: Sendable, Equatable {
    /// Who wanted the scene.
    public enum Origin: String, Sendable {
        /// Somebody who wants to see it.
        case person
        /// The system, which has something for it out of sight.
        case system
        /// Its app.
        case app
    }

    /// Its name.
    public let id: SceneID
    /// What it is for, as its app knows it; `window` where nobody has said.
    public let role: String
    /// What to show in it, as its app understands it; at most ``infoLimit`` bytes of UTF-8.
    public internal(set) var info: String?
    /// Who wanted it.
    public let origin: Origin
    /// What it is doing.
    public internal(set) var state = SceneState.unattached
    /// Why it is doing that.
    public internal(set) var reason = Reason.none
    /// Since when.
    public internal(set) var since: Instant
    /// When it was in sight the last time; nil where it never was.
    public internal(set) var lastInFront: Instant?
    /// Whether it was connected and is not any more, or is again.
    public internal(set) var wasConnected = false

    /// Why it is on its way, where that is not why its app is.
    var wishReason: Reason?
    /// Whether it is to be connected out of sight as well.
    var isWanted = false
    /// Whether it is forgotten as soon as it is disconnected and the app has heard so.
    var isClosing = false

    /// The most bytes that a scene's info has.
    public static let infoLimit = 4096
    /// The role of a scene of which nobody has said another.
    public static let defaultRole = "window"

    init(id: SceneID, role: String, info: String?, origin: Origin, since: Instant) {
        self.id = id
        self.role = role
        self.info = info
        self.origin = origin
        self.since = since
    }
}

/// One step of one scene.
public struct SceneTransition: Sendable, Equatable {
    /// Whose scene.
    public let app: AppID
    /// Which scene.
    public let scene: SceneID
    /// The state that it left.
    public let from: SceneState
    /// The state that it is in now.
    public let to: SceneState
    /// Why.
    public let reason: Reason
    /// When.
    public let instant: Instant
    /// How long the app took to answer the callback that this step waited for.
    public let answerTime: Duration?
}

/// The scene that a callback is about.
public struct SceneNews: Sendable, Equatable {
    /// Which.
    public let scene: SceneID
    /// Why it is connected or disconnected, with these two callbacks: `person`, `system`, `app` or `restoration`;
    /// `closed`, `reclaimed` or `terminating`.
    public let reason: String?
}
