/// The callbacks of a scene's life cycle, in the order and with the names of `UISceneDelegate`.
///
/// In an app with scenes these replace the methods of `ApplicationDelegate` about the foreground and the active state. Every
/// method has a default implementation that does nothing. If `sceneDidEnterBackground(_:)` does not return within 5 s, lifed
/// kills the app.
@MainActor
public protocol SceneDelegate: AnyObject {
    /// The scene is connected, and not visible yet. The state is unattached, and background afterwards.
    ///
    /// The session has the content of the scene. `sceneWillEnterForeground(_:)` follows for a visible scene.
    func scene(_ scene: Scene, willConnectTo session: SceneSession, options: Scene.ConnectionOptions)

    /// The scene is about to enter the foreground, for the first time or again. The state is background, and
    /// foregroundInactive afterwards.
    func sceneWillEnterForeground(_ scene: Scene)

    /// The scene is active. The state is foregroundActive.
    func sceneDidBecomeActive(_ scene: Scene)

    /// The scene is about to become inactive, for an interruption or for good. The state is foregroundActive, and
    /// foregroundInactive afterwards.
    func sceneWillResignActive(_ scene: Scene)

    /// The scene is in the background.
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

/// The configuration of a new scene.
@MainActor
public struct SceneConfiguration {
    /// The delegate of the scene; nil for none.
    public var delegate: (any SceneDelegate)?

    /// A scene with this delegate.
    public init(delegate: (any SceneDelegate)? = nil) {
        self.delegate = delegate
    }
}
