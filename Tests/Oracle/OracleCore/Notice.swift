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
    /// Where something is to hear that it is in use, and where that it no longer is, with nothing else for it in between.
    /// What others of the app's scenes are to hear may come between the two.
    private var lostPlace: (activation: Int, resignation: Int)? {
        for index in indices where self[index].isActivation {
            let next = self[(index + 1)...].firstIndex { $0.scene == self[index].scene }
            if let next, self[next].isResignation { return (index, next) }
        }
        return nil
    }

    /// Leaves out what need not be heard, because it is not so any more.
    mutating func removeLostPlaces() {
        while let place = lostPlace {
            remove(at: place.resignation)
            remove(at: place.activation)
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
