/// The phase of an app: its state, and the one operation that its next step waits for.
///
/// | phase | state | next phases |
/// |---|---|---|
/// | `notRunning` | notRunning | `spawning` |
/// | `spawning` | notRunning | `running`, `terminating`, `notRunning` |
/// | `running` | inactive, active, background | `running`, `stopping`, `terminating` |
/// | `stopping` | background | `suspended`, `resuming`, `terminating` |
/// | `suspended` | suspended | `suspended`, `resuming`, `terminating` |
/// | `resuming` | suspended or background | `running`, `terminating` |
/// | `terminating` | terminating | `notRunning` |
///
/// A process may end by itself in any phase but `notRunning`: then `terminating` follows while processes of its tree are
/// left, else `notRunning`.
public enum Phase: Sendable, Equatable {
    /// No process of the app is left.
    case notRunning
    /// The program is being started for this state. The termination is set if the app was killed meanwhile.
    indirect case spawning(to: RunningState, Termination?)
    /// The app runs; the callback that it has not answered yet, if any.
    case running(RunningState, sentCallback: SentCallback?)
    /// The kernel stops the processes of the background app.
    case stopping
    /// Every process is stopped; not confirmed while a stop is renewed.
    case suspended(isConfirmed: Bool)
    /// The kernel continues the processes of an app that was stopped, or of one whose stop was abandoned.
    case resuming(isSuspended: Bool)
    /// The app was asked to end or killed, or its main process ended.
    indirect case terminating(Termination)

    /// The state of the life cycle.
    public var state: AppState {
        switch self {
        case .notRunning, .spawning: .notRunning
        case .running(let state, sentCallback: _): state.appState
        case .stopping: .background
        case .suspended: .suspended
        case .resuming(let isSuspended): isSuspended ? .suspended : .background
        case .terminating: .terminating
        }
    }

    /// The callback that the app has not answered yet.
    var sentCallback: SentCallback? {
        if case .running(_, let callback) = self { callback } else { nil }
    }

    /// A Boolean value that indicates whether no operation is pending.
    var isAtRest: Bool {
        switch self {
        case .notRunning, .running(_, sentCallback: nil), .suspended(isConfirmed: true): true
        case .spawning, .running, .stopping, .suspended, .resuming, .terminating: false
        }
    }

    /// A Boolean value that indicates whether the kernel was asked to stop the processes and has not confirmed it.
    var awaitsStop: Bool {
        switch self {
        case .stopping, .suspended(isConfirmed: false): true
        case .notRunning, .spawning, .running, .suspended, .resuming, .terminating: false
        }
    }

    /// A Boolean value that indicates whether the kernel was asked to continue the processes and has not confirmed it.
    var awaitsResume: Bool {
        if case .resuming = self { true } else { false }
    }

    /// The end of the app, once it has begun.
    var termination: Termination? {
        switch self {
        case .spawning(_, let termination): termination
        case .terminating(let termination): termination
        case .notRunning, .running, .stopping, .suspended, .resuming: nil
        }
    }
}

/// The state that requests and rules want for an app; its target follows from it.
public enum Desired: String, Sendable {
    /// The app need not run.
    case rest
    /// The app runs, in the foreground or not.
    case run
    /// The app is to end.
    case end
    /// The app is asked to end, and is launched again. It has a process, and its end has not begun: with that, it is to run.
    case restart

    /// A Boolean value that indicates whether the app is to end.
    var isEnd: Bool { self == .end || self == .restart }
}
