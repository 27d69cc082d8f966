/// A callback to a connected app, in the terms of `UIApplicationDelegate` and `UISceneDelegate`.
///
/// willTerminate is not among them: it is SIGTERM itself.
public enum Callback: String, Sendable, CaseIterable {
    /// The process runs and prepares for the restoration of its state.
    case willFinishLaunching = "will-finish-launching"
    /// The launch is almost complete.
    case didFinishLaunching = "did-finish-launching"
    /// The app is active.
    case didBecomeActive = "did-become-active"
    /// The app is about to become inactive.
    case willResignActive = "will-resign-active"
    /// The app is in the background and has a few seconds to save its state.
    case didEnterBackground = "did-enter-background"
    /// The app is about to leave the background.
    case willEnterForeground = "will-enter-foreground"
    /// The app is handed a URL to open.
    case openURL = "open-url"
    /// The app is handed an activity to continue.
    case continueActivity = "continue-activity"
    /// The app is handed work to do in the background.
    case performTask = "perform-task"
    /// Memory is short.
    case memoryWarning = "memory-warning"
    /// The session is about to be locked.
    case protectedDataWillBecomeUnavailable = "protected-data-will-become-unavailable"
    /// The session was unlocked.
    case protectedDataDidBecomeAvailable = "protected-data-did-become-available"
    /// The clock was set, the time zone changed, or a day began.
    case significantTimeChange = "significant-time-change"
    /// A scene is about to be connected.
    case sceneWillConnect = "scene-will-connect"
    /// The scene is about to be shown, for the first time or again.
    case sceneWillEnterForeground = "scene-will-enter-foreground"
    /// The scene is active.
    case sceneDidBecomeActive = "scene-did-become-active"
    /// The scene is about to become inactive.
    case sceneWillResignActive = "scene-will-resign-active"
    /// The scene is in the background.
    case sceneDidEnterBackground = "scene-did-enter-background"
    /// The scene was disconnected.
    case sceneDidDisconnect = "scene-did-disconnect"

    /// The part of a callback in the life cycle. All else that the daemon and the libraries do about it follows from that.
    public enum Role: Sendable {
        /// The app is launched.
        case launch
        /// The app, or the scene, is active.
        case activation
        /// The app, or the scene, is to give up its activation slot.
        case resignation
        /// The app, or the scene, is in the background.
        case background
        /// The app, or the scene, is on its way to the foreground, or is connected.
        case arrival
        /// The scene was disconnected.
        case disconnection
        /// An event that the callback delivers, and that has an outcome.
        case event
        /// News beside the life cycle.
        case notice
    }

    /// The role.
    public var role: Role {
        switch self {
        case .willFinishLaunching, .didFinishLaunching: .launch
        case .didBecomeActive, .sceneDidBecomeActive: .activation
        case .willResignActive, .sceneWillResignActive: .resignation
        case .didEnterBackground, .sceneDidEnterBackground: .background
        case .willEnterForeground, .sceneWillEnterForeground, .sceneWillConnect: .arrival
        case .sceneDidDisconnect: .disconnection
        case .openURL, .continueActivity, .performTask: .event
        case .memoryWarning, .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable,
            .significantTimeChange:
            .notice
        }
    }

    /// A Boolean value that indicates whether the callback names a scene.
    public var isAboutScene: Bool {
        switch self {
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            true
        case .willFinishLaunching, .didFinishLaunching, .didBecomeActive, .willResignActive, .didEnterBackground,
            .willEnterForeground, .openURL, .continueActivity, .performTask, .memoryWarning,
            .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable, .significantTimeChange:
            false
        }
    }

    /// A Boolean value that indicates whether the callback has no meaning without the event that it delivers.
    public var needsEvent: Bool { role == .event }
}
