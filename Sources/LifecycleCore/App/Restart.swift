/// The failures of an app, which delay its next launch by the restart policy.
public enum RestartState: Sendable, Equatable {
    /// The app has not failed since a request or a calm run.
    case steady
    /// The app ended by itself so many times in a row, each soon after its launch.
    case failed(times: Int)
    /// The restart limit is reached: the policy does not launch the app again.
    case limitReached(times: Int)

    /// The failures in a row.
    public var failures: Int {
        switch self {
        case .steady: 0
        case .failed(let times), .limitReached(let times): times
        }
    }

    /// A Boolean value that indicates whether the restart limit is reached.
    public var isLimitReached: Bool {
        if case .limitReached = self { true } else { false }
    }
}

/// The delay of a restart: none at first, then one second, two, four, up to a minute.
enum Backoff {
    /// The run after which an app counts as steady.
    static let calmTime = Duration.seconds(60)
    /// The failures in a row at which the restart limit is reached.
    static let limit = 10

    /// Returns the delay after so many failures in a row.
    static func delay(after failures: Int) -> Duration {
        failures < 2 ? .zero : .seconds(min(60, 1 << min(failures - 2, 6)))
    }
}
