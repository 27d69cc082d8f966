import LifecycleCore

/// An app with scenes that connects, and must answer its launch callbacks.
enum SceneFixture {
    static let clock = AppID("clock")
    static let main = SceneID("main")
    static let second = SceneID("scene-2")

    static func world(sceneLimit: Int = 1) -> World {
        var world = World()
        var policy = Policy()
        policy.scenes = true
        policy.sceneLimit = sceneLimit
        policy.callbacks = .required
        world.linked = [clock]
        world.give(.define(clock, policy))
        return world
    }

    /// Two scenes, the second of which was opened last.
    static func withTwoScenes(limit: Int = 1) -> World {
        var world = world(sceneLimit: limit)
        world.ask(.launch(clock, background: false))
        world.ask(.openScene(clock, SceneOpening(), background: false))
        _ = world.lines()
        return world
    }
}

extension World {
    /// A scene of the clock.
    func scene(_ id: SceneID) -> Scene? { core.knownApps[SceneFixture.clock]?.scenes[id] }

    /// The scenes of an app by name.
    func scenes(_ name: String) -> [String: SceneState] {
        let scenes = core.knownApps[AppID(name)]?.scenes.all ?? []
        return Dictionary(uniqueKeysWithValues: scenes.map { ($0.id.name, $0.state) })
    }
}
