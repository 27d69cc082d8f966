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

extension [Notice] {
    /// Where something is to hear that it is in use, and next that it no longer is.
    var indexOfLostPlace: Int? {
        indices.dropLast().first {
            self[$0].isActivation && self[$0 + 1].isResignation && self[$0].scene == self[$0 + 1].scene
        }
    }
}

/// The state that follows the answer to a callback.
enum Arrival: Sendable, Equatable {
    /// The app's.
    case app(AppState)
    /// That of the scene which the callback is about.
    case scene(SceneState)
}
