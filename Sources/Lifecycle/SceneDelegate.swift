/// What a scene hears of its life cycle, in the order and with the names of `UISceneDelegate`.
///
/// In an app with scenes these replace four methods of `ApplicationDelegate`: those that begin and end the time in use and
/// in front. Every method has an implementation that does nothing. lifed waits for each to return as it does for those: a
/// scene that has not returned from `sceneDidEnterBackground(_:)` after 5 s has its app killed.
@MainActor
public protocol SceneDelegate: AnyObject {
    /// The scene is there, and not yet to be seen. The state is unattached, and background afterwards.
    ///
    /// What the session holds is what the scene is to show. `sceneWillEnterForeground(_:)` follows when it is to be seen.
    func scene(_ scene: Scene, willConnectTo session: SceneSession, options: Scene.ConnectionOptions)

    /// The scene is about to come to the front, for the first time too. The state is background, and foregroundInactive
    /// afterwards.
    func sceneWillEnterForeground(_ scene: Scene)

    /// The scene is in front and in use. The state is foregroundActive.
    func sceneDidBecomeActive(_ scene: Scene)

    /// The scene is about to stop being in use, for an interruption or for good. The state is foregroundActive, and
    /// foregroundInactive afterwards.
    func sceneWillResignActive(_ scene: Scene)

    /// The scene is out of sight. The state is background.
    ///
    /// When all of them are, the app is suspended unless a task or an activity holds it, and may be killed while it is
    /// suspended. There is no notice of either.
    func sceneDidEnterBackground(_ scene: Scene)

    /// The scene is gone: what belongs to it is to be let go. The state is unattached.
    ///
    /// Its session may come back, unless `application(_:didDiscardSceneSessions:)` follows.
    func sceneDidDisconnect(_ scene: Scene)
}

extension SceneDelegate {
    /// Does nothing.
    public func scene(_ scene: Scene, willConnectTo session: SceneSession, options: Scene.ConnectionOptions) {}

    /// Does nothing.
    public func sceneWillEnterForeground(_ scene: Scene) {}

    /// Does nothing.
    public func sceneDidBecomeActive(_ scene: Scene) {}

    /// Does nothing.
    public func sceneWillResignActive(_ scene: Scene) {}

    /// Does nothing.
    public func sceneDidEnterBackground(_ scene: Scene) {}

    /// Does nothing.
    public func sceneDidDisconnect(_ scene: Scene) {}
}

/// How a scene is made: what `application(_:configurationForConnecting:options:)` returns.
@MainActor
public struct SceneConfiguration {
    /// Whom the scene's events go to; nil for nobody.
    public var delegate: (any SceneDelegate)?

    /// A scene with this delegate.
    public init(delegate: (any SceneDelegate)? = nil) {
        self.delegate = delegate
    }
}
