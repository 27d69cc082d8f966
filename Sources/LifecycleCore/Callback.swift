/// What an app that listens is told, in the words of `UIApplicationDelegate` and `UISceneDelegate`.
///
/// willTerminate is not among them: it is SIGTERM itself, whoever sends it.
public enum Callback: String, Sendable, CaseIterable {
    /// The process runs; set up what state restoration needs.
    case willFinishLaunching = "will-finish-launching"
    /// Launching is almost done.
    case didFinishLaunching = "did-finish-launching"
    /// The app has become active.
    case didBecomeActive = "did-become-active"
    /// The app is about to stop being active.
    case willResignActive = "will-resign-active"
    /// The app is in the background now, and has a few seconds to put its things in order.
    case didEnterBackground = "did-enter-background"
    /// The app is about to leave the background.
    case willEnterForeground = "will-enter-foreground"
    /// There is something to open.
    case openURL = "open-url"
    /// Something that was begun elsewhere is to be gone on with.
    case continueActivity = "continue-activity"
    /// There is work to do out of sight.
    case performTask = "perform-task"
    /// Memory is running short.
    case memoryWarning = "memory-warning"
    /// The session is about to be locked.
    case protectedDataWillBecomeUnavailable = "protected-data-will-become-unavailable"
    /// The session was unlocked.
    case protectedDataDidBecomeAvailable = "protected-data-did-become-available"
    /// The clock was set, the time zone is another one, or a day has begun.
    case significantTimeChange = "significant-time-change"
    /// The app has a scene from now on.
    case sceneWillConnect = "scene-will-connect"
    /// The scene is about to be shown, for the first time or again.
    case sceneWillEnterForeground = "scene-will-enter-foreground"
    /// The scene has become active.
    case sceneDidBecomeActive = "scene-did-become-active"
    /// The scene is about to stop being active.
    case sceneWillResignActive = "scene-will-resign-active"
    /// The scene is not shown any more.
    case sceneDidEnterBackground = "scene-did-enter-background"
    /// The app does not have the scene any more.
    case sceneDidDisconnect = "scene-did-disconnect"

    /// Whether it is about a scene, which it names.
    var isAboutScene: Bool {
        switch self {
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            true
        default: false
        }
    }

    /// Whether it says nothing without the event that it tells of.
    var needsEvent: Bool { self == .openURL || self == .continueActivity || self == .performTask }
}
