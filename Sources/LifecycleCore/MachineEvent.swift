/// What happens to the machine, or to the session in which the apps are seen.
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
    /// The clock was set, the time zone is another one, or a day has begun.
    case timeChange = "time-change"
}

/// Why nothing is in sight, whatever is in front.
public enum Concealment: String, Sendable, CaseIterable {
    /// The session is locked.
    case locked
    /// The seat shows another session.
    case switchedAway = "switched-away"
    /// The machine sleeps, or is about to.
    case asleep
}
