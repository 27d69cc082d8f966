/// An event with the number by which an app's events are told apart.
public struct QueuedEvent: Sendable, Equatable {
    let number: UInt64
    /// What the app is told.
    public let event: AppEvent
}
