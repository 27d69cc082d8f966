/// The reason for which the daemon refuses a task or an activity of an app: a word of the app protocol.
public enum AssertionRefusal: String, CaseIterable, Sendable {
    /// The app has as many tasks and activities as it may have.
    case tooMany = "too-many-tasks"
    /// The manifest does not declare the mode.
    case undeclared = "mode-not-declared"
    /// Another task or activity of the app has the number.
    case duplicate = "duplicate-id"
    /// The time for tasks is over for this stay in the background.
    case timeIsUp = "time-is-up"
}
