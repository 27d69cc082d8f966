/// The reason of a state of an app or a scene, or of the end of an app: one word, the same in the journal, in `lifectl`, on
/// the app's channel and in its environment.
///
/// `type Reason` in `org.lifed.varlink` has the same words. `scripts/generate-api` writes the table of `docs/integrate/reasons.md`.
public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// Nothing has happened to the app yet.
    case none
    /// A client launched the app.
    case launch
    /// A client adopted the running program.
    case adopt
    /// A client released the adopted app.
    case release
    /// The manifest launches the app when the daemon starts.
    case boot
    /// The restart policy launches the app again.
    case restart
    /// The foreground app ended, and this app was in the foreground before it.
    case previous
    /// A client brought the app, or the scene, to the foreground.
    case focus
    /// A client asked for home, or no other app was in the foreground.
    case home
    /// Another app, or another scene of the app, took the foreground slot.
    case displaced
    /// The configuration allows fewer foreground apps or scenes than before.
    case foregroundLimit = "foreground-limit"
    /// An interruption began.
    case interruption
    /// The last interruption ended.
    case interruptionEnded = "interruption-ended"
    /// A client suspended the app.
    case suspend
    /// The app is in the background, and nothing keeps it running.
    case idle
    /// A client resumed the app.
    case resume
    /// The app's manifest has another suspension policy than before.
    case policy
    /// A client asked the app to end.
    case terminate
    /// A client killed the app.
    case kill
    /// A client opened a URL with the app.
    case url
    /// A client handed an activity to the app.
    case activity
    /// A window of the background app became visible.
    case visible
    /// The pointer entered a window of the background app.
    case pointed
    /// The background app plays sound.
    case playing
    /// A program called the app on the message bus.
    case called
    /// A process waits for a file lock of the app.
    case awaited
    /// The app had many events of the display server to read.
    case unread
    /// The desktop launched the app once more, while it ran.
    case relaunched
    /// The desktop launched the app, and no client reports which windows are visible.
    case unfollowed
    /// A background work request woke the app.
    case wake
    /// A client opened a scene of the app.
    case scene
    /// A client sent the scene, or the app's last foreground scene, to the background.
    case sentBack = "sent-back"
    /// The scene, or the app's last foreground scene, was closed.
    case closed
    /// The session was locked.
    case locked
    /// The session was unlocked.
    case unlocked
    /// The seat switched to another session.
    case switchedAway = "switched-away"
    /// The seat switched back to the session.
    case switchedBack = "switched-back"
    /// The machine is about to sleep.
    case sleep
    /// The machine is awake again.
    case awake
    /// The daemon is stopping.
    case shutdown
    /// The app exited with status 0.
    case exit
    /// The app exited with another status, or by a signal that the daemon did not send.
    case crash
    /// A signal from outside came while the app was suspended, and ended it.
    case signalled
    /// The keeper of the app's processes was killed.
    case keeperEnded = "keeper-ended"
    /// The app's program could not be started.
    case launchFailed = "launch-failed"
    /// The app did not answer did-enter-background in time.
    case backgroundTimeout = "background-timeout"
    /// The app did not end its background tasks in time.
    case taskTimeout = "task-timeout"
    /// The app did not answer the launch callbacks in time.
    case launchTimeout = "launch-timeout"
    /// The daemon ended the app to free memory.
    case reclaimed
}

extension Reason: CustomStringConvertible {
    /// The word.
    public var description: String { rawValue }
}

extension Reason {
    /// Returns the reason that a saved record has; ``none`` for an unknown word.
    public init(saved word: String) {
        self = Self(rawValue: word) ?? .none
    }

    /// The reason as a clause about the app, for users.
    public var meaning: String {
        switch self {
        case .none: "nothing has happened to it yet"
        case .launch: "it was launched"
        case .adopt: "it was running, and was adopted"
        case .release: "it was released, and runs on unmanaged"
        case .boot: "its manifest launches it when the daemon starts"
        case .restart: "its restart policy launched it again"
        case .previous: "the foreground app ended, and this one was in the foreground before"
        case .focus: "it was brought to the foreground"
        case .home: "home was asked for, or no other app was in the foreground"
        case .displaced: "another app came to the foreground"
        case .foregroundLimit: "the configuration allows fewer foreground apps or scenes than before"
        case .interruption: "an interruption began"
        case .interruptionEnded: "the last interruption ended"
        case .suspend: "its suspension was asked for"
        case .idle: "it is in the background, and nothing keeps it running"
        case .resume: "it was resumed"
        case .policy: "its manifest has another suspension policy than before"
        case .terminate: "it was asked to end"
        case .kill: "it was killed by request"
        case .url: "it was handed a URL"
        case .activity: "it was handed an activity to continue"
        case .visible: "a window of it became visible"
        case .pointed: "the pointer entered a window of it"
        case .playing: "it plays sound"
        case .called: "a program called it on the message bus"
        case .awaited: "a process waits for a file lock that it holds"
        case .unread: "it had many events of the display server to read"
        case .relaunched: "the desktop launched it once more"
        case .unfollowed: "no client reports which windows are visible"
        case .wake: "a background work request woke it"
        case .scene: "a scene of it was opened"
        case .sentBack: "it, or its last foreground scene, was sent to the background"
        case .closed: "its last foreground scene was closed"
        case .locked: "the session was locked"
        case .unlocked: "the session was unlocked"
        case .switchedAway: "the seat switched to another session"
        case .switchedBack: "the seat switched back to the session"
        case .sleep: "the machine is about to sleep"
        case .awake: "the machine is awake again"
        case .shutdown: "the daemon is stopping"
        case .exit: "it exited with status 0"
        case .crash: "it crashed: another exit status than 0, or a signal that lifed did not send"
        case .signalled: "a signal from outside came while it was suspended"
        case .keeperEnded: "its lifed-keeper was killed, and its processes could not be told from others any more"
        case .launchFailed: "its launch failed"
        case .backgroundTimeout: "it did not answer did-enter-background in time"
        case .taskTimeout: "it did not end its background tasks in time"
        case .launchTimeout: "it did not answer the launch callbacks in time"
        case .reclaimed: "its memory was needed"
        }
    }

    /// The part of a reason in the life of an app.
    private enum Role {
        /// An app is launched for it.
        case launch
        /// An app ends for it.
        case end
        /// The system ends an app for it.
        case endBySystem
        /// An app changes its state for it.
        case change
    }

    private var role: Role {
        switch self {
        case .launch, .adopt, .boot, .restart, .home, .url, .activity, .wake, .scene: .launch
        case .release, .terminate, .kill, .shutdown, .exit: .end
        case .crash, .signalled, .keeperEnded, .backgroundTimeout, .taskTimeout, .launchTimeout, .reclaimed:
            .endBySystem
        case .none, .previous, .focus, .displaced, .foregroundLimit, .interruption, .interruptionEnded, .suspend,
            .idle, .resume, .policy, .visible, .pointed, .playing, .called, .awaited, .unread, .relaunched,
            .unfollowed, .sentBack, .closed, .locked, .unlocked, .switchedAway, .switchedBack, .sleep, .awake,
            .launchFailed:
            .change
        }
    }

    /// A Boolean value that indicates whether an app can be launched for the reason, and so be told of it.
    public var isLaunchReason: Bool { role == .launch }

    /// A Boolean value that indicates whether an app can have ended for the reason, and so be told of it at its next launch.
    public var isExitReason: Bool { role == .end || role == .endBySystem }

    /// A Boolean value that indicates whether the system ended the app, so that its next launch restores what it showed.
    public var callsForRestoration: Bool { role == .endBySystem }

    /// A Boolean value that indicates whether the app failed: it crashed, could not be started, or did not answer.
    public var isFailure: Bool {
        self == .launchFailed || (callsForRestoration && self != .reclaimed && self != .signalled)
    }
}
