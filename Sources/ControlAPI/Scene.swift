public import Varlink

// The scenes of `org.lifed`: the windows of an app, each with a life cycle of its own.

/// What a scene is doing.
public enum SceneState: String, Codable, Sendable, CaseIterable {
    case unattached, foregroundInactive, foregroundActive, background, suspended
}

/// A scene of an app, connected to it or to be restored.
public struct Scene: Codable, Sendable, Equatable {
    /// What tells it from the app's other scenes.
    public var id: String
    /// What it is for.
    public var role: String
    /// Where it is.
    public var state: SceneState
    /// Where it is on its way to.
    public var target: SceneState
    /// Why it is where it is.
    public var reason: String
    /// Since when it is where it is, in microseconds since the epoch.
    public var since: Int64
    /// What the app gets back with it.
    @Nullable public var info: String?

    /// A scene with all that is known of it.
    public init(
        id: String, role: String, state: SceneState, target: SceneState, reason: String, since: Int64,
        info: String? = nil
    ) {
        self.id = id
        self.role = role
        self.state = state
        self.target = target
        self.reason = reason
        self.since = since
        self.info = info
    }
}

/// One change of a scene's state.
public struct SceneTransition: Codable, Sendable, Equatable {
    /// Which app.
    public var app: String
    /// Which of its scenes.
    public var scene: String
    /// The state that it left.
    public var from: SceneState
    /// The state that it is in now.
    public var to: SceneState
    /// Why.
    public var reason: String
    /// Microseconds since the epoch.
    public var time: Int64
    /// How long it took to answer the callback that was waited for, in microseconds.
    @Nullable public var callback: Int64?

    /// A change with all that is known of it.
    public init(
        app: String, scene: String, from: SceneState, to: SceneState, reason: String, time: Int64,
        callback: Int64? = nil
    ) {
        self.app = app
        self.scene = scene
        self.from = from
        self.to = to
        self.reason = reason
        self.time = time
        self.callback = callback
    }
}

/// The parameters of OpenScene.
public struct OpenSceneParameters: Codable, Sendable, NamedFields {
    /// Which app.
    public var app: String
    /// Which scene; nil for a new one that the daemon names.
    public var scene: String?
    /// What it is for; nil for a window.
    public var role: String?
    /// What the app gets with it.
    public var info: String?
    /// Whether it stays out of sight.
    public var background: Bool?

    /// What to open.
    public init(
        app: String, scene: String? = nil, role: String? = nil, info: String? = nil, background: Bool? = nil
    ) {
        self.app = app
        self.scene = scene
        self.role = role
        self.info = info
        self.background = background
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["app", "scene", "role", "info", "background"] }
}

/// The parameters of the methods that are about one scene.
public struct SceneParameters: Codable, Sendable, NamedFields {
    /// Which app.
    public var app: String
    /// Which of its scenes.
    public var scene: String

    /// Names a scene.
    public init(app: String, scene: String) {
        self.app = app
        self.scene = scene
    }

    /// As the description has them.
    public static var fieldNames: [String] { ["app", "scene"] }
}

/// What the methods that are about one scene return.
public struct SceneReply: Codable, Sendable {
    /// The scene, as it was when the call was fulfilled; one that was closed is unattached.
    public var scene: Scene

    /// Returns a scene.
    public init(scene: Scene) { self.scene = scene }
}

extension ControlMethod where Parameters == OpenSceneParameters, Reply == SceneReply {
    /// Opens a scene of an app, or brings one to the front that is there.
    public static var openScene: Self { Self(.openScene) }
}

extension ControlMethod where Parameters == SceneParameters, Reply == SceneReply {
    /// Brings a scene to the front.
    public static var focusScene: Self { Self(.focusScene) }
    /// Sends a scene out of sight.
    public static var backgroundScene: Self { Self(.backgroundScene) }
    /// Closes a scene for good.
    public static var closeScene: Self { Self(.closeScene) }
}
