internal import AppChannel
internal import LifecycleClient
internal import LifecycleTypes

// The callbacks of an app in Swift: a method of the delegate and an event for each, and the switch that leads to them.

/// The callbacks of an app's life cycle, in the order and with the names of `UIApplicationDelegate`.
///
/// All methods are called on the main thread, do nothing by default, and return in a limited time: lifed kills an app that spends 5 s in
/// `applicationDidEnterBackground(_:)`. Longer work needs a background task. A misspelt method is never called.
@MainActor
public protocol LifecycleDelegate: AnyObject {
    /// Tells the delegate that the process runs. The first callback; the state is inactive.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - options: The reason of the launch, and the previous end of the app.
    /// - Returns: False if the app cannot open the URL that it was launched for.
    func application(_ application: LifecycleApplication, willFinishLaunchingWithOptions options: LaunchOptions) -> Bool

    /// Tells the delegate that the launch is almost complete. The state is inactive, or background for a launch in the
    /// background.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - options: The reason of the launch, and the previous end of the app.
    /// - Returns: False if the app cannot open the URL that it was launched for.
    func application(_ application: LifecycleApplication, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool

    /// Tells the delegate that the app is active.
    func applicationDidBecomeActive(_ application: LifecycleApplication)

    /// Tells the delegate that the app is about to become inactive, for an interruption or for good. The state is
    /// active, and inactive afterwards.
    func applicationWillResignActive(_ application: LifecycleApplication)

    /// Tells the delegate that the app is in the background.
    ///
    /// lifed suspends the app afterwards, unless it has a background task or an activity, and may kill a suspended app. No
    /// callback announces either.
    func applicationDidEnterBackground(_ application: LifecycleApplication)

    /// Tells the delegate that the app is about to enter the foreground. The state is background, and inactive afterwards.
    func applicationWillEnterForeground(_ application: LifecycleApplication)

    /// Asks the delegate to open a URL, after the launch methods or `applicationWillEnterForeground(_:)` and before the
    /// app is active.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - url: The URL, of any scheme.
    ///   - options: The MIME type of the content, and the sender.
    /// - Returns: Whether the app opens the URL; the client is told.
    func application(_ application: LifecycleApplication, open url: String, options: OpenURLOptions) -> Bool

    /// Asks the delegate to continue an activity that was begun elsewhere, at the time of
    /// `application(_:open:options:)`.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - activity: The type of the activity, and its content.
    /// - Returns: Whether the app continues the activity.
    func application(_ application: LifecycleApplication, continue activity: UserActivity) -> Bool

    /// Asks the delegate to do work in the background, within about 30 s.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - work: The work to do.
    ///   - completionHandler: A function that takes the result, once and on the main actor. lifed waits for this call, which
    ///     may follow the return of the method.
    func application(
        _ application: LifecycleApplication, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void)

    /// Tells the delegate that memory is short: an app that releases what it can load again is less likely to be
    /// killed.
    func applicationDidReceiveMemoryWarning(_ application: LifecycleApplication)

    /// Tells the delegate that the session is about to be locked: private content should be hidden.
    func applicationProtectedDataWillBecomeUnavailable(_ application: LifecycleApplication)

    /// Tells the delegate that the session was unlocked.
    func applicationProtectedDataDidBecomeAvailable(_ application: LifecycleApplication)

    /// Tells the delegate that the clock was set, the time zone changed, or a day began.
    func applicationSignificantTimeChange(_ application: LifecycleApplication)

    /// A Boolean value that indicates whether an app that lifed did not launch has a scene, in the foreground. By default, true
    /// for a `LifecycleSceneDelegate`.
    var usesScenes: Bool { get }

    /// Asks the delegate for the configuration of a scene that is about to be connected.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - session: The session of the scene.
    ///   - options: The reason of the connection, and the content of the scene.
    /// - Returns: The configuration with the delegate of the scene; by default, the delegate of the app if it is a
    ///   `LifecycleSceneDelegate`.
    func application(
        _ application: LifecycleApplication, configurationForConnecting session: SceneSession,
        options: LifecycleScene.ConnectionOptions
    ) -> SceneConfiguration

    /// Scenes were closed for good and disconnected: the app can delete their data.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - sessions: The sessions of the scenes.
    func application(_ application: LifecycleApplication, didDiscardSceneSessions sessions: [SceneSession])

    /// Tells the delegate that SIGTERM came, from lifed or from another process.
    ///
    /// The app has about 5 s to save and exit. The last call, and only with ``LifecycleApplication/Options/handlesSIGTERM``, the default
    /// of `run`. When the method returns, `run` returns; an app with a main loop of its own ends the loop here.
    func applicationWillTerminate(_ application: LifecycleApplication)
}

extension LifecycleDelegate {
    /// Does nothing.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - options: The reason of the launch, and the previous end of the app.
    /// - Returns: True: the app can open any URL.
    public func application(
        _ application: LifecycleApplication, willFinishLaunchingWithOptions options: LaunchOptions
    ) -> Bool { true }

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - options: The reason of the launch, and the previous end of the app.
    /// - Returns: True: the app can open any URL.
    public func application(
        _ application: LifecycleApplication, didFinishLaunchingWithOptions options: LaunchOptions
    ) -> Bool { true }

    /// Does nothing.
    public func applicationDidBecomeActive(_ application: LifecycleApplication) {}

    /// Does nothing.
    public func applicationWillResignActive(_ application: LifecycleApplication) {}

    /// Does nothing.
    public func applicationDidEnterBackground(_ application: LifecycleApplication) {}

    /// Does nothing.
    public func applicationWillEnterForeground(_ application: LifecycleApplication) {}

    /// Does not open the URL.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - url: The URL, of any scheme.
    ///   - options: The MIME type of the content, and the sender.
    /// - Returns: False: the app does not open the URL.
    public func application(_ application: LifecycleApplication, open url: String, options: OpenURLOptions) -> Bool {
        false
    }

    /// Does not continue the activity.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - activity: The type of the activity, and its content.
    /// - Returns: False: the app does not continue the activity.
    public func application(_ application: LifecycleApplication, continue activity: UserActivity) -> Bool { false }

    /// Completes the work without new data.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - work: The work, which is not done.
    ///   - completionHandler: The function that gets the result ``BackgroundWorkResult/noData`` at once.
    public func application(
        _ application: LifecycleApplication, perform work: BackgroundWork,
        completionHandler: @escaping @MainActor (BackgroundWorkResult) -> Void
    ) { completionHandler(.noData) }

    /// Does nothing.
    public func applicationDidReceiveMemoryWarning(_ application: LifecycleApplication) {}

    /// Does nothing.
    public func applicationProtectedDataWillBecomeUnavailable(_ application: LifecycleApplication) {}

    /// Does nothing.
    public func applicationProtectedDataDidBecomeAvailable(_ application: LifecycleApplication) {}

    /// Does nothing.
    public func applicationSignificantTimeChange(_ application: LifecycleApplication) {}

    /// True for a `LifecycleSceneDelegate`.
    public var usesScenes: Bool { self is any LifecycleSceneDelegate }

    /// Returns a configuration with this delegate, if it is a `LifecycleSceneDelegate`.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - session: The session of the scene.
    ///   - options: The reason of the connection, and the content of the scene.
    /// - Returns: The configuration; without a delegate if this is no `LifecycleSceneDelegate`.
    public func application(
        _ application: LifecycleApplication, configurationForConnecting session: SceneSession,
        options: LifecycleScene.ConnectionOptions
    ) -> SceneConfiguration { SceneConfiguration(delegate: self as? any LifecycleSceneDelegate) }

    /// Does nothing.
    ///
    /// - Parameters:
    ///   - application: The app.
    ///   - sessions: The sessions of the scenes that were closed for good.
    public func application(_ application: LifecycleApplication, didDiscardSceneSessions sessions: [SceneSession]) {}

    /// Does nothing.
    public func applicationWillTerminate(_ application: LifecycleApplication) {}
}

/// The events of an app for its observers, which follow the calls of its delegate.
public enum LifecycleEvent: Hashable, Sendable {
    /// The process runs. The first event.
    case willFinishLaunching(LaunchOptions)
    /// The launch is almost complete.
    case didFinishLaunching(LaunchOptions)
    /// The app is active.
    case didBecomeActive
    /// The app is about to become inactive.
    case willResignActive
    /// The app is in the background.
    case didEnterBackground
    /// The app is about to enter the foreground.
    case willEnterForeground
    /// The app was handed a URL to open.
    case openURL(String, OpenURLOptions)
    /// The app was handed an activity that was begun elsewhere.
    case continueActivity(UserActivity)
    /// The app was handed work for the background.
    case performWork(BackgroundWork)
    /// Memory is short.
    case didReceiveMemoryWarning
    /// The session is about to be locked.
    case protectedDataWillBecomeUnavailable
    /// The session was unlocked.
    case protectedDataDidBecomeAvailable
    /// The clock was set, the time zone changed, or a day began.
    case significantTimeChange
    /// The scene with this identifier is connected, and not visible yet.
    case sceneWillConnect(String, LifecycleScene.ConnectionOptions)
    /// The scene is about to enter the foreground.
    case sceneWillEnterForeground(String)
    /// The scene is active.
    case sceneDidBecomeActive(String)
    /// The scene is about to become inactive.
    case sceneWillResignActive(String)
    /// The scene is in the background.
    case sceneDidEnterBackground(String)
    /// The scene was disconnected.
    case sceneDidDisconnect(String)
    /// SIGTERM came, and the app is about to exit. It does not wait for observers, which may miss this event.
    case willTerminate
}

extension LifecycleApplication {
    /// Returns the answer; nil if it comes later.
    func deliver(_ callback: CallbackMessage, of client: AppClient) -> AppAnswer? {
        switch callback.kind {
        case .willFinishLaunching, .didFinishLaunching: launch(callback)
        case .openURL: open(OpenURLFields(callback.fields))
        case .continueActivity: continueActivity(UserActivity(ContinueActivityFields(callback.fields)))
        case .performTask: perform(callback, of: client)
        case .didBecomeActive: notify(.didBecomeActive) { $0.applicationDidBecomeActive(self) }
        case .willResignActive: notify(.willResignActive) { $0.applicationWillResignActive(self) }
        case .didEnterBackground: notify(.didEnterBackground) { $0.applicationDidEnterBackground(self) }
        case .willEnterForeground: notify(.willEnterForeground) { $0.applicationWillEnterForeground(self) }
        case .memoryWarning: notify(.didReceiveMemoryWarning) { $0.applicationDidReceiveMemoryWarning(self) }
        case .protectedDataWillBecomeUnavailable:
            notify(.protectedDataWillBecomeUnavailable) { $0.applicationProtectedDataWillBecomeUnavailable(self) }
        case .protectedDataDidBecomeAvailable:
            notify(.protectedDataDidBecomeAvailable) { $0.applicationProtectedDataDidBecomeAvailable(self) }
        case .significantTimeChange: notify(.significantTimeChange) { $0.applicationSignificantTimeChange(self) }
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            deliverSceneCallback(callback)
        }
    }

    private func notify(_ event: LifecycleEvent, _ call: (any LifecycleDelegate) -> Void) -> AppAnswer {
        if let delegate { call(delegate) }
        observers.send(event)
        return .plain
    }
}
