/// Something that holds an app in the background.
public struct Hold: Sendable, Equatable {
    /// What kind it is.
    public enum Kind: String, Sendable {
        /// Something to finish, for which there is a limited time.
        case task
        /// Something that goes on, for as long as it lasts.
        case activity
    }

    /// What kind it is.
    public let kind: Kind
    /// The number that the app has given it.
    public let number: UInt64
    /// A task's name, an activity's mode.
    public let name: String
    /// When it began.
    public let since: Instant
}

/// Why a task or an activity does not hold its app.
public enum HoldRefusal: Sendable {
    /// The app has as many as it may have.
    case tooMany
    /// The number is taken.
    case duplicate
    /// The manifest does not declare the mode.
    case undeclared
    /// The time for tasks is over for this stay in the background.
    case timeIsUp
}
