/// The time limits, on the monotonic clock, with the defaults of the life cycle's specification: the table `[timeouts]` of
/// `lifed.toml`.
public struct Timeouts: Hashable, Sendable {
    /// The time for an app's answer to `willResignActive`; the next app waits this long at most.
    public var willResignActive = Duration.seconds(1)
    /// The time for an app's answer to `didEnterBackground`; the daemon kills an app that misses it.
    public var didEnterBackground = Duration.seconds(5)
    /// The termination timeout, from SIGTERM to SIGKILL.
    public var termination = Duration.seconds(5)
    /// The background time of an app that is not connected.
    public var background = Duration.seconds(5)
    /// The time for each launch callback; for an app that must answer them, from the launch to the last answer.
    public var launch = Duration.seconds(20)
    /// The time for an app's answer to every other callback; then the app continues without it.
    public var callback = Duration.seconds(5)
    /// The time of all background tasks of an app together, for each stay in the background.
    public var task = Duration.seconds(30)
    /// The time from the expiration of the tasks of an app to SIGKILL.
    public var taskExpiration = Duration.seconds(5)
    /// The time from SIGSTOP until every process of a tree is seen stopped. It is the same for all apps.
    public var suspension = Duration.seconds(1)

    /// Creates the defaults.
    public init() {}
}
