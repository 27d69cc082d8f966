// The words of manifests and of `lifed.toml` by which the core decides.

/// The rule by which the daemon suspends an app in the background.
public enum SuspensionPolicy: String, CaseIterable, Sendable {
    /// Suspends the app when its background time expires, unless it holds an assertion.
    case auto
    /// Does not suspend the app.
    case never
}

/// The rule by which an app gets callbacks.
public enum CallbackPolicy: String, CaseIterable, Sendable {
    /// The app gets callbacks once it connects.
    case auto
    /// The app must connect, and answer the launch callbacks before it becomes active.
    case required
    /// The app gets no callbacks.
    case none
}

/// The rule by which the daemon launches an app again after it has ended by itself.
public enum RestartPolicy: String, CaseIterable, Sendable {
    /// Does not launch it again.
    case never
    /// Launches it again after a crash, or an end by the daemon because it had not answered.
    case onFailure = "on-failure"
    /// Launches it again after every end that was not requested.
    case always
}

/// The state of an app that the daemon launches when it starts.
public enum LaunchPosition: String, CaseIterable, Sendable {
    case foreground, background
}

/// The app that follows when the foreground app ends.
public enum ExitSuccessor: String, CaseIterable, Sendable {
    /// The home app, if there is one.
    case home
    /// The app that was in the foreground before, if it still runs.
    case previous
}

/// The rule for audible apps in the background.
public enum PlayingPolicy: String, CaseIterable, Sendable {
    /// Apps with the background mode `audio` keep running.
    case declared
    /// Audible apps keep running.
    case keep
    /// Audible apps are suspended like any other background app.
    case ignore
}
