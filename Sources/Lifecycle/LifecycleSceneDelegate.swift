/// The callbacks of a scene's life cycle, in the order and with the names of `UISceneDelegate`; by default they do nothing.
///
/// In an app with scenes they replace the methods of `LifecycleDelegate` about the foreground and the active state. If
/// `sceneDidEnterBackground(_:)` does not return within 5 s, lifed kills the app.
@MainActor
public protocol LifecycleSceneDelegate: AnyObject {
    /// Tells the delegate that the scene is connected, and not visible yet. The state is unattached, and background
    /// afterwards.
    ///
    /// `sceneWillEnterForeground(_:)` follows for a visible scene.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - session: The session of the scene, with its content.
    ///   - options: The reason of the connection, and the content.
    func scene(_ scene: LifecycleScene, willConnectTo session: SceneSession, options: LifecycleScene.ConnectionOptions)

    /// Tells the delegate that the scene is about to enter the foreground, for the first time or again. The state is
    /// background, and foregroundInactive afterwards.
    func sceneWillEnterForeground(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is active. The state is foregroundActive.
    func sceneDidBecomeActive(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is about to become inactive, for an interruption or for good. The state is
    /// foregroundActive, and foregroundInactive afterwards.
    func sceneWillResignActive(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is in the background.
    ///
    /// When all scenes are in the background, lifed suspends the app, unless it has a background task or an activity, and may
    /// kill a suspended app. No callback announces either.
    func sceneDidEnterBackground(_ scene: LifecycleScene)

    /// Tells the delegate that the scene is disconnected: the app destroys its window. The state is unattached.
    ///
    /// The session may be connected again, unless `application(_:didDiscardSceneSessions:)` follows.
    func sceneDidDisconnect(_ scene: LifecycleScene)
}

extension LifecycleSceneDelegate {
    /// Does nothing.
    ///
    /// - Parameters:
    ///   - scene: The scene.
    ///   - session: The session of the scene, with its content.
    ///   - options: The reason of the connection, and the content.
    public func scene(
        _ scene: LifecycleScene, willConnectTo session: SceneSession, options: LifecycleScene.ConnectionOptions
    ) {}

    /// Does nothing.
    public func sceneWillEnterForeground(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneDidBecomeActive(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneWillResignActive(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneDidEnterBackground(_ scene: LifecycleScene) {}

    /// Does nothing.
    public func sceneDidDisconnect(_ scene: LifecycleScene) {}
}

/// The configuration of a new scene.
@MainActor
public struct SceneConfiguration {
    /// The delegate of the scene; nil for none.
    public var delegate: (any LifecycleSceneDelegate)?

    /// Creates a configuration.
    ///
    /// - Parameter delegate: The delegate of the scene; nil for none.
    public init(delegate: (any LifecycleSceneDelegate)? = nil) {
        self.delegate = delegate
    }
}
