/// A task or an activity of an app, which keeps it in the background.
public struct Assertion: Sendable, Equatable {
    /// The kind of an assertion.
    public enum Kind: String, Sendable {
        /// A background task, for a limited time.
        case task
        /// An activity of a background mode, for as long as it lasts.
        case activity
    }

    /// The kind.
    public let kind: Kind
    /// The number that the app has given it.
    public let number: UInt64
    /// A task's name, or an activity's mode.
    public let name: String
    /// The instant at which it began.
    public let since: Instant
}

/// A request about an app in the background that goes before its assertions and the rules.
enum UserOverride: Sendable {
    /// None.
    case none
    /// The app runs until it is suspended by request or comes to the foreground.
    case keepRunning
    /// The app is suspended whatever it holds, until a request or a use needs it.
    case suspend
}

/// All that keeps an app running in the background: its own tasks and activities, a request, work, and its uses.
struct AssertionTable: Sendable, Equatable {
    /// The tasks and activities, in the order in which they began. Cleared with the channel.
    var held: [Assertion] = []
    /// The request that goes before all of these. Ended by the next one, by the foreground, and with the process.
    var userOverride = UserOverride.none
    /// A Boolean value that indicates whether the app was woken for work that it cannot be told of. Set while the deadline `woken` runs.
    var isWoken = false
    /// The reported uses.
    var reportedUses: Set<Use> = []
    /// The use that keeps the app running.
    var use: Use?
    /// The instant at which what kept the app running without a limit ended; the time of the tasks runs from then.
    var lastUse: Instant?
    /// The instant at which the app that is suspended entered the background. It stays until the app leaves the background, or is resumed
    /// for another reason than an assertion that began before its stop: then the time of the tasks begins anew.
    var background: Instant?
    /// The deadline that the app was told for its expired tasks. Set while the deadline `taskExpiration` runs.
    var expiration: Instant?

    var hasTasks: Bool { held.contains { $0.kind == .task } }

    /// The first activity.
    var activity: Assertion? { held.first { $0.kind == .activity } }

    /// Ends a suspension by request: the app is needed, or ends.
    mutating func endSuspension() {
        if userOverride == .suspend { userOverride = .none }
    }

    mutating func report(_ use: Use, _ isUsed: Bool) {
        if isUsed { reportedUses.insert(use) } else { reportedUses.remove(use) }
    }
}
