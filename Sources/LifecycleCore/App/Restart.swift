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

extension AppMachine {
    /// Returns whether the app is launched again after an end, or a failed launch, for this reason. The home app always is.
    func isRestarted(after reason: Reason, isHome: Bool) -> Bool {
        guard desired == .rest, !policy.isTransient, !policy.isAdopted else { return false }
        guard policy.restart.covers(reason) || isHome && RestartPolicy.always.covers(reason) else { return false }
        return reason != .launchFailed || launch.reason != .launch
    }

    /// Counts the end as a failure, and sets the time of the next launch unless the limit is reached; returns whether it is now.
    mutating func scheduleRestart(isLimited: Bool, _ shared: inout Shared) -> Bool {
        let lasted = launch.instant.map { shared.now.duration(since: $0) } ?? .zero
        let failures = lasted < Backoff.calmTime ? restart.failures + 1 : 1
        guard !isLimited || failures < Backoff.limit else {
            restart = .limitReached(times: failures)
            shared.announce(.restartLimitReached(id, failures: failures), of: index)
            return false
        }
        restart = .failed(times: failures)
        let delay = Backoff.delay(after: failures)
        guard delay > .zero else { return true }
        shared.deadlines.set(.restart, index, at: shared.now + delay)
        shared.announce(.restartDelayed(id, delay), of: index)
        return false
    }

    /// Cancels a restart and clears the failures, for a request; returns whether the app was about to be launched again.
    mutating func cancelRestart(_ shared: inout Shared) -> Bool {
        let wasPending = shared.deadlines[.restart, index] != nil
        shared.deadlines.clear(.restart, index)
        if !isRunning { restart = .steady }
        return wasPending
    }
}
