/// What an app hears of its life cycle, in the order and with the names of `UIApplicationDelegate`.
///
/// Every method has an implementation that does nothing, so an app has those that it cares about; a method whose name or
/// parameters differ in a letter is never called. lifed waits for each to return, for a time that differs, and then goes on
/// without: an app that has not returned from `applicationDidEnterBackground(_:)` after 5 s is killed. What takes longer
/// asks for time with `Application.beginBackgroundTask(withName:expirationHandler:)`.
@MainActor
public protocol ApplicationDelegate: AnyObject {
    /// The first of all. The state is inactive.
    ///
    /// Returns whether the app can open what it was launched for; true when it was for nothing in particular.
    func application(_ application: Application, willFinishLaunchingWithOptions options: LaunchOptions) -> Bool

    /// Launching is done but for coming to the front. The state is inactive, or background for a launch out of sight.
    ///
    /// Returns whether the app can open what it was launched for; true when it was for nothing in particular.
    func application(_ application: Application, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool

    /// The app is in front and in use. The state is active.
    func applicationDidBecomeActive(_ application: Application)

    /// The app is about to stop being in use, for an interruption or for good. The state is active, and inactive afterwards.
    func applicationWillResignActive(_ application: Application)

    /// The app is out of sight. The state is background.
    ///
    /// The app is suspended afterwards unless a task or an activity holds it, and may be killed while it is suspended. There
    /// is no notice of either.
    func applicationDidEnterBackground(_ application: Application)

    /// The app is about to come to the front. The state is background, and inactive afterwards.
    func applicationWillEnterForeground(_ application: Application)

    /// There is something to open. Comes after the launch methods or after `applicationWillEnterForeground(_:)`, and before
    /// the app is active.
    ///
    /// Returns whether the app opens it; whoever asked for it is told when it does not.
    func application(_ application: Application, open url: String, options: OpenURLOptions) -> Bool

    /// A person goes on here with what was begun elsewhere. Comes where `application(_:open:options:)` does.
    ///
    /// Returns whether the app takes it up.
    func application(_ application: Application, continue activity: UserActivity) -> Bool

    /// There is work to do out of sight. The app has about 30 s, and says with the handler, once and on the main actor, what
    /// became of it; it may do so after it has returned. lifed waits for that, not for the method.
    func application(
        _ application: Application, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void)

    /// Memory is running short: whoever gives back what can be had again is less likely to be killed for it.
    func applicationDidReceiveMemoryWarning(_ application: Application)

    /// The session is about to be locked: what is for its owner's eyes only is to be put away.
    func applicationProtectedDataWillBecomeUnavailable(_ application: Application)

    /// The session was unlocked.
    func applicationProtectedDataDidBecomeAvailable(_ application: Application)

    /// The clock was set, the time zone is another one, or a day has begun.
    func applicationSignificantTimeChange(_ application: Application)

    /// Whether the app has scenes where lifed is not there to say so, because it did not launch the app: it is told of one
    /// then, in front. True for a delegate that is a `SceneDelegate` too.
    var usesScenes: Bool { get }

    /// A scene is about to be connected: who is to hear of what happens to it.
    ///
    /// By itself, this returns the delegate of the app where that is a `SceneDelegate` too.
    func application(
        _ application: Application, configurationForConnecting session: SceneSession, options: Scene.ConnectionOptions
    ) -> SceneConfiguration

    /// Scenes were closed for good, and are disconnected: what was kept for them can go.
    func application(_ application: Application, didDiscardSceneSessions sessions: [SceneSession])

    /// SIGTERM came, from lifed or from anybody. The app has about 5 s.
    ///
    /// Called once, and nothing is called after it: when it returns, the process exits with status 0.
    func applicationWillTerminate(_ application: Application)
}

extension ApplicationDelegate {
    /// Does nothing.
    public func application(
        _ application: Application, willFinishLaunchingWithOptions options: LaunchOptions
    ) -> Bool { true }

    /// Does nothing.
    public func application(
        _ application: Application, didFinishLaunchingWithOptions options: LaunchOptions
    ) -> Bool { true }

    /// Does nothing.
    public func applicationDidBecomeActive(_ application: Application) {}

    /// Does nothing.
    public func applicationWillResignActive(_ application: Application) {}

    /// Does nothing.
    public func applicationDidEnterBackground(_ application: Application) {}

    /// Does nothing.
    public func applicationWillEnterForeground(_ application: Application) {}

    /// Does not open it.
    public func application(_ application: Application, open url: String, options: OpenURLOptions) -> Bool { false }

    /// Does not take it up.
    public func application(_ application: Application, continue activity: UserActivity) -> Bool { false }

    /// Finds nothing new.
    public func application(
        _ application: Application, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void
    ) { completionHandler(.noData) }

    /// Does nothing.
    public func applicationDidReceiveMemoryWarning(_ application: Application) {}

    /// Does nothing.
    public func applicationProtectedDataWillBecomeUnavailable(_ application: Application) {}

    /// Does nothing.
    public func applicationProtectedDataDidBecomeAvailable(_ application: Application) {}

    /// Does nothing.
    public func applicationSignificantTimeChange(_ application: Application) {}

    /// Whether this is a `SceneDelegate`.
    public var usesScenes: Bool { self is any SceneDelegate }

    /// Makes a scene that this hears of, where it is a `SceneDelegate`.
    public func application(
        _ application: Application, configurationForConnecting session: SceneSession, options: Scene.ConnectionOptions
    ) -> SceneConfiguration { SceneConfiguration(delegate: self as? any SceneDelegate) }

    /// Does nothing.
    public func application(_ application: Application, didDiscardSceneSessions sessions: [SceneSession]) {}

    /// Does nothing.
    public func applicationWillTerminate(_ application: Application) {}
}
