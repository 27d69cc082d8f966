/// How long things may take. Every one can be configured; the defaults are those of the life cycle's texts.
public struct Timeouts: Sendable, Equatable {
    /// For answering willResignActive; then the switch goes on without the answer.
    public var willResignActive: Duration = .seconds(1)
    /// For answering didEnterBackground; then the app is killed.
    public var didEnterBackground: Duration = .seconds(5)
    /// Between SIGTERM and SIGKILL.
    public var willTerminate: Duration = .seconds(5)
    /// For answering any other callback; then the app goes on without the answer.
    public var callback: Duration = .seconds(5)
    /// For launching: answering each of the launch callbacks, and for an app that has to answer, all of it together.
    public var launch: Duration = .seconds(20)
    /// What an app without the library gets in the background before it is stopped.
    public var background: Duration = .seconds(5)
    /// What the background tasks of an app get, all together, each time that it is in the background.
    public var task: Duration = .seconds(30)
    /// Between telling an app that its tasks' time is over and killing it.
    public var taskExpiration: Duration = .seconds(5)

    /// The defaults.
    public init() {}
}

/// What holds for all apps.
public struct Settings: Sendable, Equatable {
    /// Times for apps whose policy has none of its own.
    public var timeouts = Timeouts()
    /// How many apps may be in front, and active, at once; at least 1.
    public var frontLimit = 1
    /// The app that is in front when no other is.
    public var homeApp: AppID?
    /// How many apps may be suspended at once; 0 for any number.
    public var suspendedLimit = 0
    /// What keeps apps awake that are used without being in front.
    public var keptUses = KeptUses()

    /// The defaults: one app in front, no home app.
    public init() {}
}

/// What holds for one app.
public struct Policy: Sendable, Equatable {
    /// Whether the app may be put to sleep.
    public enum Suspend: String, Sendable {
        /// When it is not in front and nothing holds it.
        case auto
        /// Never: out of sight it stays in the background.
        case never
    }

    /// Whether the app is told of its life cycle.
    public enum Callbacks: String, Sendable {
        /// When it says that it listens.
        case auto
        /// It must say so, and is not in use before it has answered the launch callbacks.
        case required
        /// Never.
        case none
    }

    /// Whether the app may be put to sleep.
    public var suspend = Suspend.auto
    /// Whether the app is told of its life cycle.
    public var callbacks = Callbacks.auto
    /// The kinds of activity that may hold the app in the background for as long as they last.
    public var backgroundModes: Set<String> = []
    /// How many tasks and activities the app may have at once.
    public var holdLimit = 16
    /// Whether its program takes what it is to open as an argument, when it is launched for that.
    public var takesURLs = false
    /// Whether the app's scenes have a life cycle of their own.
    public var scenes = false
    /// How many scenes of the app may be in front at once; at least 1.
    public var sceneLimit = 1
    /// Whether the app is started again after it has ended by itself.
    public var restart = RestartPolicy.never
    /// What comes forward when the app ends in front.
    public var onExit = ExitSuccessor.home
    /// Where the app is when it is launched with the daemon; nil where it is not.
    public var launchAtStart: StartPlace?
    /// The app's own times.
    public var timeouts: Timeouts
    /// Whether the app is forgotten when it ends, as one that was started ad hoc.
    public var isTransient = false
    /// Whether its processes run already when it is launched, because somebody else has started them: it is never told
    /// anything, what else happens to them is not heard of, and when they have ended it is not started again.
    public var isAdopted = false

    /// A policy with the given times and otherwise the defaults.
    public init(timeouts: Timeouts = Timeouts(), isTransient: Bool = false) {
        self.timeouts = timeouts
        self.isTransient = isTransient
    }
}
