public import AppChannel

extension Client {
    /// The scenes that the app has heard of and that are not closed for good, in the order in which it has.
    public var scenes: [SceneRecord] { session.allScenes }

    /// Asks for a scene: a new one, or the one with this id. Throws a `SceneRequestError`.
    public func openScene(_ id: SceneID?, role: String?, info: String?) throws(SceneRequestError) {
        try session.openScene(id, role: role, info: info)
        flushAndWake()
    }

    /// Asks to be rid of a scene. One that is not there is left alone.
    public func closeScene(_ id: SceneID) {
        session.closeScene(id)
        flushAndWake()
    }

    /// Says what a scene shows, to be given back with it when it is restored. Throws a `SceneRequestError`.
    public func setSceneInfo(_ info: String?, of id: SceneID) throws(SceneRequestError) {
        try session.setSceneInfo(info, of: id)
        flushAndWake()
    }
}
