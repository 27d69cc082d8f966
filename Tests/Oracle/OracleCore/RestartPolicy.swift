/// Whether an app is started again after it has ended by itself.
public enum RestartPolicy: String, Sendable {
    /// It stays away until somebody wants it.
    case never
    /// After a crash, or when the daemon ended it because it had not answered.
    case onFailure = "on-failure"
    /// After every end that nobody asked for.
    case always

    /// Whether an app that ended for this reason is started again.
    func covers(_ reason: Reason) -> Bool {
        switch self {
        case .never: false
        case .onFailure: reason.isFailure
        case .always: reason.isFailure || reason == .exit
        }
    }
}

/// How late an app that keeps ending is started again.
///
/// The first time it is started at once, then after one second, two, four, up to a minute. One that has run for a
/// minute begins anew.
enum Backoff {
    /// How long an app has to run to be no failure any more.
    static let calmTime = Duration.seconds(60)
    /// The failures in a row after which an app is given up. All of them together take three minutes and more.
    static let limit = 10

    /// What an app waits for after so many failures in a row; none after the first.
    static func delay(after failures: Int) -> Duration {
        failures < 2 ? .zero : .seconds(min(60, 1 << min(failures - 2, 6)))
    }
}

/// What comes forward when the app in front ends.
public enum ExitSuccessor: String, Sendable {
    /// The home app, where there is one.
    case home
    /// The app that was in front before it, if it still runs.
    case previous
}

/// Where an app is when it is launched with the daemon.
public enum StartPlace: String, Sendable {
    case foreground, background
}
