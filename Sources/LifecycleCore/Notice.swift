/// What an app is to be told: a callback, and the scene that it is about, where it is about one.
struct Notice: Sendable, Equatable {
    let callback: Callback
    var scene: SceneID?

    init(_ callback: Callback, _ scene: SceneID? = nil) {
        self.callback = callback
        self.scene = scene
    }

    /// Whether it tells the app, or its scene, that it is in use.
    var isActivation: Bool { callback == .didBecomeActive || callback == .sceneDidBecomeActive }

    /// Whether it asks the app, or its scene, to stop being in use.
    var isResignation: Bool { callback == .willResignActive || callback == .sceneWillResignActive }
}

/// The state that follows the answer to a callback.
enum Arrival: Sendable, Equatable {
    /// The app's.
    case app(AppState)
    /// That of the scene which the callback is about.
    case scene(SceneState)
}
