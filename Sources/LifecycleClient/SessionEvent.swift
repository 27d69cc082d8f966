public import AppChannel

/// What an app is to be told next.
public enum SessionEvent: Equatable, Sendable {
    /// A callback, which is to be answered with `Session.answer(_:_:)` when the app has dealt with it.
    case callback(CallbackMessage)
    /// The app is to put its things in order and exit. Nothing comes after this.
    case terminate
    /// A task has used up its time, and has to be ended within so many milliseconds.
    case expire(AssertionID, deadlineMilliseconds: Int64)
    /// A task or an activity does not hold the app in the background.
    case refused(AssertionID, reason: RefusalReason)
}
