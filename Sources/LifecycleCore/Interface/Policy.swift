/// The settings that apply to all apps.
public struct Settings: Sendable, Equatable {
    /// Time-outs for apps whose policy has none of its own.
    public var timeouts = Timeouts()
    /// The largest number of foreground apps; at least 1.
    public var foregroundLimit = 1
    /// The app that is in the foreground when no other app is.
    public var homeApp: AppID?
    /// The largest number of suspended apps; 0 for any number.
    public var suspendedLimit = 0
    /// The uses that keep background apps running.
    public var keptUses = KeptUses()

    /// Creates the defaults: one foreground app, no home app.
    public init() {}
}

/// The policy of one app.
public struct Policy: Sendable, Equatable {
    /// The rule by which the daemon suspends the app.
    public var suspend = SuspensionPolicy.auto
    /// The rule by which the app gets callbacks.
    public var callbacks = CallbackPolicy.auto
    /// The background modes whose activities keep the app in the background.
    public var backgroundModes: Set<String> = []
    /// The largest number of tasks and activities at once.
    public var assertionLimit = 16
    /// A Boolean value that indicates whether the program takes a URL as an argument when it is launched for it.
    public var takesURLs = false
    /// A Boolean value that indicates whether the app's scenes have a life cycle of their own.
    public var scenes = false
    /// The largest number of foreground scenes of the app; at least 1.
    public var sceneLimit = 1
    /// The rule by which the daemon launches the app again after it has ended by itself.
    public var restart = RestartPolicy.never
    /// The app that follows when this one ends in the foreground.
    public var onExit = ExitSuccessor.home
    /// The place of the app when the daemon launches it at its start; nil if it does not.
    public var launchAtStart: LaunchPosition?
    /// The time-outs of the app.
    public var timeouts: Timeouts
    /// A Boolean value that indicates whether the app is forgotten when it ends, as an app without a manifest is.
    public var isTransient = false
    /// A Boolean value that indicates whether another program launched the app.
    ///
    /// The daemon does not launch it again, and the kernel does not report its stops. It gets callbacks once it connects.
    public var isAdopted = false

    /// Creates a policy that otherwise has the defaults.
    ///
    /// - Parameters:
    ///   - timeouts: The time limits.
    ///   - isTransient: True if the app is forgotten when it ends.
    package init(timeouts: Timeouts = Timeouts(), isTransient: Bool = false) {
        self.timeouts = timeouts
        self.isTransient = isTransient
    }
}

/// The uses that keep background apps running. The report of a use comes from outside; its consequence is decided here.
public struct KeptUses: Sendable, Equatable {
    /// A Boolean value that indicates whether visible apps keep running.
    public var visible = true
    /// The apps that sound keeps running.
    public var playing = PlayingPolicy.declared

    /// Creates the defaults: visible apps, and apps that declare the mode audio while they play.
    public init() {}

    /// The background mode that allows an app to play in the background.
    public static let playingMode = "audio"

    /// Returns whether the use keeps an app with this policy running.
    ///
    /// - Parameters:
    ///   - use: A reported use.
    ///   - policy: The policy of the app.
    /// - Returns: True if the use keeps the app running.
    package func keep(_ use: Use, _ policy: Policy) -> Bool {
        switch use {
        case .pointed, .called, .awaited, .unread, .relaunched, .unfollowed: true
        case .visible: visible
        case .playing:
            playing == .keep || playing == .declared && policy.backgroundModes.contains(Self.playingMode)
        }
    }
}

extension RestartPolicy {
    /// Returns whether an app that ended for this reason is launched again.
    func covers(_ reason: Reason) -> Bool {
        switch self {
        case .never: false
        case .onFailure: reason.isFailure
        case .always: reason.isFailure || reason == .exit || reason == .signalled
        }
    }
}
