/// The kernel's account of the end of a process (waitid(2)).
public enum ExitStatus: Sendable, Equatable {
    /// The process exited with this status.
    case code(Int32)
    /// This signal ended the process.
    case signal(Int32)
    /// The status is not known any more.
    case unknown

    /// The status as it is saved.
    public var word: String {
        switch self {
        case .code(let code): "code \(code)"
        case .signal(let number): "signal \(number)"
        case .unknown: "unknown"
        }
    }

    /// Creates the status of a saved word; ``unknown`` for any other word.
    public init(word: some StringProtocol) {
        let parts = word.split(separator: " ")
        switch (parts.first, parts.last.flatMap { Int32($0) }) {
        case ("code", let code?): self = .code(code)
        case ("signal", let number?): self = .signal(number)
        default: self = .unknown
        }
    }
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
    public init(state: AppState, reason: Reason, status: ExitStatus, instant: Instant) {
        self.state = state
        self.reason = reason
        self.status = status
        self.instant = instant
    }

    /// The record as one line of text.
    public var text: String { "\(instant.microseconds):\(state.rawValue):\(status.word):\(reason)" }

    /// Creates the record of such a text; nil for any other text.
    public init?(text: String) {
        let parts = text.words(maxSplits: 3)
        guard parts.count == 4, let time = UInt64(parts[0]), let state = AppState(rawValue: parts[1]) else {
            return nil
        }
        self.init(
            state: state, reason: Reason(saved: parts[3]), status: ExitStatus(word: parts[2]),
            instant: Instant(microseconds: time))
    }
}
