/// A change of the machine, or of the session in which the apps are shown.
public enum MachineEvent: String, Sendable, CaseIterable {
    /// The session is locked.
    case lock
    /// The session is unlocked.
    case unlock
    /// The machine is about to sleep.
    case sleep
    /// The machine is awake again.
    case wake
    /// The seat shows another session.
    case switchAway = "switch-away"
    /// The seat shows the session again.
    case switchBack = "switch-back"
    /// The clock was set, the time zone changed, or a day began.
    case timeChange = "time-change"
}

/// A condition under which no app is in the foreground.
public enum ForegroundBlocker: String, Sendable, CaseIterable {
    /// The session is locked.
    case locked
    /// The seat shows another session.
    case switchedAway = "switched-away"
    /// The machine sleeps, or is about to.
    case asleep

    /// The condition, as a clause.
    public var meaning: String {
        switch self {
        case .locked: "the session is locked"
        case .switchedAway: "the seat shows another session"
        case .asleep: "the machine is about to sleep"
        }
    }
}

/// The shortage of memory.
public enum MemoryLevel: String, Sendable, CaseIterable {
    /// No app has to do anything.
    case normal
    /// Apps should release what they do not need.
    case warning
    /// Apps are reclaimed.
    case critical
}
