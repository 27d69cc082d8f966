/// The number of a request; the shell assigns the numbers.
public struct RequestID: Hashable, Sendable {
    /// The number.
    public let number: UInt64

    /// Creates an id from a number that no open request has.
    public init(_ number: UInt64) {
        self.number = number
    }
}

/// The requests of clients. A reply promises the effect, not the intention.
public enum Request: Sendable, Equatable {
    /// Launch the app into the foreground or the background; if it runs, bring it to the foreground. In the foreground, the reply
    /// may wait until the app has answered the callbacks as well.
    case launch(AppID, background: Bool, untilAnswered: Bool = false)
    /// Bring a running app to the foreground. The reply may wait until the app has answered the callbacks as well.
    case focus(AppID, untilAnswered: Bool = false)
    /// Send the app to the background; the home app comes to the foreground if no app is left there.
    case background(AppID)
    /// Send the foreground apps to the background, and bring the home app to the foreground.
    case home
    /// Make the foreground inactive until the interruption of this name ends.
    case beginInterruption(String)
    /// End the interruption of this name.
    case endInterruption(String, answer: AppID? = nil)
    /// Suspend the app without further background time.
    case suspend(AppID, now: Bool = false)
    /// Continue the app and keep it running until it is suspended by request or was in the foreground.
    case resume(AppID)
    /// Deliver an event: bring the app to the foreground for a URL or an activity, or wake it for a task.
    case deliver(AppID, AppEvent)
    /// Apply a change of the machine; answered when the apps have reached the states that follow.
    case machine(MachineEvent)
    /// Wake the app for a task in the background; launch it if need be. An app that cannot be told is only woken.
    case wake(AppID, kind: String, payload: String)
    /// Open a scene, a new one or the one of this name, in the foreground or the background; launch the app if need be.
    case openScene(AppID, SceneOpening, background: Bool)
    /// Bring a scene of a running app to the foreground.
    case focusScene(AppID, SceneID)
    /// Send a scene to the background.
    case backgroundScene(AppID, SceneID)
    /// Disconnect a scene and forget it.
    case closeScene(AppID, SceneID)
    /// Ask the app to end, and launch it again where it was, in the foreground or the background; launch it if it does not run.
    case restart(AppID)
    /// Ask the app to end, with its termination timeout.
    case terminate(AppID)
    /// End the app at once.
    case kill(AppID)
    /// Release an adopted app: it runs on unmanaged.
    case release(AppID)
    /// Act as at this shortage of memory; at critical, reclaim one app, or all that may be reclaimed.
    case memoryPressure(MemoryLevel, all: Bool)

    /// A Boolean value that indicates whether the request is accepted while the daemon stops.
    var isAllowedWhileShuttingDown: Bool {
        switch self {
        case .terminate, .kill, .machine: true
        case .launch, .focus, .background, .home, .beginInterruption, .endInterruption, .suspend, .resume, .deliver,
            .wake, .openScene, .focusScene, .backgroundScene, .closeScene, .restart, .release, .memoryPressure:
            false
        }
    }
}

/// A scene that a request opens: the one of this name, or a new one.
public struct SceneOpening: Sendable, Equatable {
    /// The name; nil for a new scene that the core names.
    public var scene: SceneID?
    /// The role of a new scene.
    public var role: String?
    /// The text about the contents of a new scene.
    public var info: String?

    /// Creates an opening.
    ///
    /// - Parameters:
    ///   - scene: The name; nil for a new scene that the core names.
    ///   - role: The role of a new scene; nil for the default.
    ///   - info: The text about the contents of a new scene.
    package init(scene: SceneID? = nil, role: String? = nil, info: String? = nil) {
        self.scene = scene
        self.role = role
        self.info = info
    }
}

/// The result of a request. An app, or a scene, is as it was at the moment of the reply.
public enum Reply: Sendable, Equatable {
    /// The request is fulfilled; the app that it is about, if any.
    indirect case done(AppMachine?)
    /// These apps were reclaimed.
    case reclaimed([AppID])
    /// The request about this scene is fulfilled. A closed scene is what it was before, and unattached.
    indirect case scene(Scene, AppMachine)
    /// The outcome of an event.
    indirect case ended(EventOutcome, AppMachine?)
    /// The request is not fulfilled, and will not be.
    indirect case refused(Refusal)
}

/// The reason for which a request is refused.
public enum Refusal: Sendable, Equatable {
    /// No app has this id.
    case noSuchApp(AppID)
    /// The app must run for the request, and does not.
    case notRunning(AppID)
    /// The app is ending.
    case terminating(AppID)
    /// The app's policy says that it is never suspended.
    case neverSuspended(AppID)
    /// The home app stays in the foreground while no other app is there.
    case homeStaysInForeground(AppID)
    /// The app has no scene of this name.
    case noSuchScene(AppID, SceneID)
    /// The app's manifest does not enable scenes.
    case noScenes(AppID)
    /// The app has as many scenes as it may have.
    case tooManyScenes(AppID, limit: Int)
    /// An activity keeps the app in the background, for as long as it lasts.
    case assertionHeld(AppID, by: Assertion)
    /// The app is visible or plays sound, and keeps running for as long as that lasts.
    case inUse(AppID, Use)
    /// As many events wait for the app as may wait.
    case tooManyEvents(AppID, limit: Int)
    /// The foreground is blocked; the app comes to the foreground afterwards.
    case foregroundBlocked(AppID, by: ForegroundBlocker)
    /// As many interruptions are under way as may be.
    case tooManyInterruptions(limit: Int)
    /// No interruption of this name is under way.
    case noSuchInterruption(String)
    /// The daemon launched the app, and cannot release it.
    case notAdopted(AppID)
    /// No app may be reclaimed.
    case nothingToReclaim
    /// The daemon stops.
    case shuttingDown
    /// A later request changed the target of the app.
    case superseded(AppID, by: Reason)
    /// The app did not answer this callback in time.
    case unanswered(AppID, Callback)
    /// The app's program could not be started.
    case launchFailed(AppID, SystemFailure)
    /// The app ended first.
    case ended(AppID, ExitRecord)
    /// Some processes do not stop.
    case notStopped(AppID, SystemFailure)
    /// SIGKILL was sent, and processes are left.
    case notGone(AppID)
}
