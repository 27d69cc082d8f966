public import Varlink

// The scenes of `org.lifed`: the windows of an app, each with a life cycle of its own.

/// The state of a scene.
public enum SceneState: String, Codable, Sendable, CaseIterable {
    case unattached, foregroundInactive, foregroundActive, background, suspended
}

/// A scene of an app, connected to it or to be restored.
public struct Scene: Codable, Sendable, Equatable {
    /// The id, unique within the app.
    public var id: String
    /// The role.
    public var role: String
    /// The state.
    public var state: SceneState
    /// The target state.
    public var target: SceneState
    /// The reason of the state.
    public var reason: String
    /// The time of the last transition, in microseconds since the epoch.
    public var since: Int64
    /// The text that the app gets back with the scene.
    @Nullable public var info: String?

    package init(
        id: String, role: String, state: SceneState, target: SceneState, reason: String, since: Int64,
        info: String? = nil
    ) {
        (self.id, self.role, self.state, self.target, self.reason) = (id, role, state, target, reason)
        (self.since, self.info) = (since, info)
    }
}

/// A transition of a scene.
public struct SceneTransition: Codable, Sendable, Equatable {
    /// The id of the app.
    public var app: String
    /// The id of the scene.
    public var scene: String
    /// The state before.
    public var from: SceneState
    /// The state after.
    public var to: SceneState
    /// The reason.
    public var reason: String
    /// Microseconds since the epoch.
    public var time: Int64
    /// The time to the answer of the callback that the transition waited for, in microseconds.
    @Nullable public var callback: Int64?

    package init(
        app: String, scene: String, from: SceneState, to: SceneState, reason: String, time: Int64,
        callback: Int64? = nil
    ) {
        (self.app, self.scene, self.from, self.to, self.reason) = (app, scene, from, to, reason)
        (self.time, self.callback) = (time, callback)
    }
}

/// The parameters of OpenScene.
public struct OpenSceneParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var app: String
    /// The id of the scene; nil for a new scene that the daemon names.
    public var scene: String?
    /// The role; nil for a window.
    public var role: String?
    /// The text for the app.
    public var info: String?
    /// True to keep the app, or the scene, in the background.
    public var background: Bool?

    package init(
        app: String, scene: String? = nil, role: String? = nil, info: String? = nil, background: Bool? = nil
    ) {
        (self.app, self.scene, self.role, self.info, self.background) = (app, scene, role, info, background)
    }
    package static var fieldNames: [String] { ["app", "scene", "role", "info", "background"] }
}

/// The parameters of the methods about one scene.
public struct SceneParameters: Codable, Sendable, NamedFields {
    /// The id of the app.
    public var app: String
    /// The id of the scene.
    public var scene: String

    package init(app: String, scene: String) { (self.app, self.scene) = (app, scene) }
    package static var fieldNames: [String] { ["app", "scene"] }
}

/// The reply of the methods about one scene.
public struct SceneReply: Codable, Sendable {
    /// The scene at the time of the reply; a closed scene is unattached.
    public var scene: Scene

    package init(scene: Scene) { self.scene = scene }
}
