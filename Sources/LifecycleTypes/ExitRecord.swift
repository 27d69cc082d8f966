/// The kernel's account of the end of a process (waitid(2)).
public enum ExitStatus: Sendable, Equatable {
    /// The process exited with this status.
    case code(Int32)
    /// This signal ended the process.
    case signal(Int32)
    /// The status is not known any more.
    case unknown
}

/// The end of an app.
public struct ExitRecord: Sendable, Equatable {
    /// The state in which the end began.
    public let state: AppState
    /// The reason of the end.
    public let reason: Reason
    /// The kernel's account.
    public let status: ExitStatus
    /// The instant at which the last process was gone; the clock's zero for an end before the clock began.
    public let instant: Instant

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - state: The state in which the end began.
    ///   - reason: The reason of the end.
    ///   - status: The kernel's account.
    ///   - instant: The instant at which the last process was gone; the clock's zero for an end before the clock began.
    public init(state: AppState, reason: Reason, status: ExitStatus, instant: Instant) {
        self.state = state
        self.reason = reason
        self.status = status
        self.instant = instant
    }
}
