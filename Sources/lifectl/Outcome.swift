/// What lifectl exits with. From 64 on the numbers are those of sysexits(3).
enum Outcome: Int32, CaseIterable {
    case success = 0
    case failed = 1
    case refused = 2
    case notRunning = 3
    case superseded = 4
    case notHandled = 5
    case interrupted = 6
    case unanswered = 7
    case ended = 8
    case stopping = 9
    case usage = 64
    case invalidApp = 65
    case noSuchApp = 66
    case ambiguous = 67
    case unavailable = 69
    case launchFailed = 73
    case output = 74
    case timedOut = 75
    case `protocol` = 76
    case notPermitted = 77

    var meaning: String {
        switch self {
        case .success: "done"
        case .failed: "the system did not do its part"
        case .refused: "refused: against the manifest, a limit or another rule"
        case .notRunning: "the app is not running"
        case .superseded: "another request overtook this one"
        case .notHandled: "the app did not take what it was handed, or could not do it"
        case .interrupted: "an interruption began before the app was active"
        case .unanswered: "the app did not answer in time"
        case .ended: "the app ended before the request was done"
        case .stopping: "the daemon is stopping"
        case .ambiguous: "several apps could do it, and none is the default"
        case .usage: "bad usage"
        case .invalidApp: "the id of a new app is taken or not valid"
        case .noSuchApp: "no such app, or no such scene of it"
        case .unavailable: "the daemon is not running, or went away"
        case .launchFailed: "the app could not be started"
        case .output: "the result could not be written"
        case .timedOut: "the daemon did not answer in time"
        case .protocol: "the daemon's answer was not understood"
        case .notPermitted: "not permitted"
        }
    }

    static var table: String {
        allCases.map { "  \(Text.leading(String($0.rawValue), width: 2))  \($0.meaning)" }.joined(separator: "\n")
    }
}
