/// Tells one request from another; the shell makes the numbers.
public struct RequestID: Hashable, Sendable {
    /// The number.
    public let number: UInt64

    /// Makes an id from a number that no open request has.
    public init(_ number: UInt64) {
        self.number = number
    }
}

/// What somebody may want. A reply promises the effect, not the intention.
public enum Request: Sendable, Equatable {
    /// Start the app, in front or in the background; if it runs already, bring it to the front.
    case launch(AppID, background: Bool)
    /// Bring a running app to the front.
    case focus(AppID)
    /// The same, answered only when the app has answered what it is told about it, where it brings one app to the front.
    indirect case untilAnswered(Request)
    /// Send away what is in front.
    case home
    /// What is in front becomes inactive until the interruption of this name ends.
    case beginInterruption(String)
    /// The interruption of this name is over.
    case endInterruption(String, answer: AppID? = nil)
    /// Put the app to sleep without further time in the background.
    case suspend(AppID, now: Bool = false)
    /// Wake the app and keep it awake until it is suspended or has been in front.
    case resume(AppID)
    /// Hand the app an errand: bring it to the front for a URL or an activity, or wake it for a task; launch it if need be.
    case hand(AppID, AppEvent)
    /// Act upon something that has happened to the machine; answered when the apps are where they then have to be.
    case machine(MachineEvent)
    /// Wake the app for a task, out of sight where it is not in front; launch it if need be. One that cannot be told what
    /// for is only woken.
    case wake(AppID, kind: String, payload: String)
    /// Open a scene of the app, a new one or the one of this name, in front or in the background; launch the app if need be.
    case openScene(AppID, SceneOpening, background: Bool)
    /// Bring a scene of a running app to the front.
    case focusScene(AppID, SceneID)
    /// Send a scene to the background.
    case backgroundScene(AppID, SceneID)
    /// Disconnect a scene and forget it.
    case closeScene(AppID, SceneID)
    /// Ask the app to end; it has its grace.
    case terminate(AppID)
    /// End the app at once.
    case kill(AppID)
    /// Let go of an app that was adopted: it runs on without being managed.
    case disown(AppID)
    /// Do what is done when memory is as short as this; where apps have to go, one of them, or all that may.
    case memoryPressure(MemoryLevel, all: Bool)
}

/// A scene that somebody wants: the one of this name, or a new one.
public struct SceneOpening: Sendable, Equatable {
    /// Its name; nil for a new one that the core names.
    public var scene: SceneID?
    /// What a new one is for.
    public var role: String?
    /// What to show in a new one.
    public var info: String?

    /// A scene of this name, role and info.
    public init(scene: SceneID? = nil, role: String? = nil, info: String? = nil) {
        self.scene = scene
        self.role = role
        self.info = info
    }
}

/// How a request ended.
public enum Reply: Sendable, Equatable {
    /// What was asked for is so; the app is the one that it is about, if any, as it was at that moment.
    case done(App?)
    /// These apps were ended for their memory.
    case reclaimed([AppID])
    /// What was asked for with this scene is so; the scene and its app as they were at that moment. A scene that was
    /// closed is what it was before, and unattached.
    case scene(Scene, App)
    /// What became of an errand, and the app as it was at that moment.
    case ended(EventOutcome, App?)
    /// It is not so, and will not be.
    case refused(Refusal)
}

/// Why a request is not fulfilled.
public enum Refusal: Sendable, Equatable {
    /// Nothing is known by this id.
    case noSuchApp(AppID)
    /// The app is not running, and would have to be.
    case notRunning(AppID)
    /// The app is ending.
    case terminating(AppID)
    /// The app's policy says that it is never suspended.
    case neverSuspended(AppID)
    /// The home app stays in front while nothing else is.
    case homeStaysInFront(AppID)
    /// The app has no scene of this name.
    case noSuchScene(AppID, SceneID)
    /// The app's manifest does not say that its scenes have a life cycle of their own.
    case noScenes(AppID)
    /// The app has as many scenes as it may have.
    case tooManyScenes(AppID, limit: Int)
    /// An activity holds the app in the background, for as long as it lasts.
    case held(AppID, by: Hold)
    /// The app is on the screen, or plays, and stays awake for as long as that lasts.
    case inUse(AppID, Use)
    /// As many errands wait for the app as there may be.
    case tooManyErrands(AppID, limit: Int)
    /// Nothing is in sight; the app, if it is about one, comes to the front when that is over.
    case concealed(AppID?, by: ForegroundBlocker)
    /// As many interruptions are under way as there may be.
    case tooManyInterruptions(limit: Int)
    /// The app was started by the daemon, which cannot let go of it.
    case notAdopted(AppID)
    /// No app may be ended for its memory.
    case nothingToReclaim
    /// The daemon is stopping.
    case shuttingDown
    /// A later wish sent the app elsewhere.
    case superseded(AppID, by: Reason)
    /// The app did not answer this callback in time.
    case unanswered(AppID, Callback)
    /// The app's program could not be started.
    case launchFailed(AppID, StartFailure)
    /// The app ended before it got there.
    case ended(AppID, ExitRecord)
    /// Some process does not stop; which, in words for people.
    case notStopped(AppID, String)
    /// SIGKILL was sent, and processes are left all the same.
    case notGone(AppID)
}

