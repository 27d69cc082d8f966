import Systemd

/// What is known of a session, and what follows from it.
nonisolated struct SessionState: Hashable, Sendable {
    /// Whether the session has its seat's screen.
    var isActive = true

    /// What the screen locker says (`LockedHint`). Many never say anything.
    var hint = false

    /// Whether the session was asked to lock and not to unlock since.
    var wasAsked = false

    /// Locked is what was asked for or what the locker says. Where it says so, its word ends it as well: whoever
    /// unlocks with a password does not go through logind.
    var isLocked: Bool { hint || wasAsked }

    mutating func take(hint new: Bool) {
        if hint, !new { wasAsked = false }
        hint = new
    }
}

extension SessionState {
    /// Takes over what is there of a session's properties.
    mutating func take(_ properties: [String: BusValue]) {
        if let active = properties["Active"]?.bool { isActive = active }
        if let locked = properties["LockedHint"]?.bool { take(hint: locked) }
    }
}
