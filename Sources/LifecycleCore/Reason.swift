/// Why an app is where it is: a short word for the journal, for `lifectl` and for programs.
public struct Reason: Hashable, Sendable, CustomStringConvertible {
    /// The word itself.
    public let word: String

    /// Makes a reason from its word; the known ones are static members.
    public init(_ word: String) {
        self.word = word
    }

    /// The word.
    public var description: String { word }

    /// Whether the system ended the app for it, so that the app may find again what it was doing.
    public var callsForRestoration: Bool {
        [.crash, .backgroundTimeout, .taskTimeout, .launchTimeout, .reclaimed].contains(self)
    }

    /// Whether the app has failed: it crashed, could not be started, or did not answer.
    var isFailure: Bool {
        [.crash, .launchFailed, .backgroundTimeout, .taskTimeout, .launchTimeout].contains(self)
    }

    /// Nothing happened to the app yet.
    public static let none = Reason("none")
    /// Somebody launched it.
    public static let launch = Reason("launch")
    /// It ran already, and was put under management.
    public static let adopt = Reason("adopt")
    /// It was let go of, and runs on by itself.
    public static let disown = Reason("disown")
    /// It is to run from the start of the daemon on.
    public static let boot = Reason("boot")
    /// It had ended by itself, and its policy says that it is started again.
    public static let restart = Reason("restart")
    /// The app in front has ended, and this one was there before.
    public static let previous = Reason("previous")
    /// Somebody brought it to the front.
    public static let focus = Reason("focus")
    /// Somebody went home, or nothing else was in front.
    public static let home = Reason("home")
    /// Another app came to the front.
    public static let displaced = Reason("displaced")
    /// A call, an alert.
    public static let interruption = Reason("interruption")
    /// The last interruption ended.
    public static let interruptionEnded = Reason("interruption-ended")
    /// Somebody put it to sleep.
    public static let suspend = Reason("suspend")
    /// Its time in the background is over and nothing holds it there.
    public static let idle = Reason("idle")
    /// Somebody woke it.
    public static let resume = Reason("resume")
    /// Somebody asked it to end.
    public static let terminate = Reason("terminate")
    /// Somebody ended it without asking.
    public static let kill = Reason("kill")
    /// It was to open something.
    public static let url = Reason("url")
    /// It was to go on with an activity.
    public static let activity = Reason("activity")
    /// It came to be on the screen, without being in front.
    public static let visible = Reason("visible")
    /// It plays.
    public static let playing = Reason("playing")
    /// It was woken for a task.
    public static let wake = Reason("wake")
    /// Somebody wanted a scene of it.
    public static let scene = Reason("scene")
    /// Somebody sent its last scene in front, or this scene, to the background.
    public static let sentBack = Reason("sent-back")
    /// Its last scene in front, or this scene, was closed.
    public static let closed = Reason("closed")
    /// The session was locked.
    public static let locked = Reason("locked")
    /// The session was unlocked.
    public static let unlocked = Reason("unlocked")
    /// The seat shows another session.
    public static let switchedAway = Reason("switched-away")
    /// The seat shows the session again.
    public static let switchedBack = Reason("switched-back")
    /// The machine is about to sleep.
    public static let sleep = Reason("sleep")
    /// The machine is awake again.
    public static let awake = Reason("awake")
    /// The daemon is stopping.
    public static let shutdown = Reason("shutdown")
    /// It ended by itself, with success.
    public static let exit = Reason("exit")
    /// It ended by itself, with a failure or by a signal that nobody here sent.
    public static let crash = Reason("crash")
    /// It could not be started.
    public static let launchFailed = Reason("launch-failed")
    /// It did not answer didEnterBackground in time.
    public static let backgroundTimeout = Reason("background-timeout")
    /// It did not end its background tasks in time.
    public static let taskTimeout = Reason("task-timeout")
    /// Its memory was needed.
    public static let reclaimed = Reason("reclaimed")
    /// It had to answer the launch callbacks, and did not in time.
    public static let launchTimeout = Reason("launch-timeout")
}
