/// The last launch of an app.
struct LaunchState: Sendable, Equatable {
    /// The instant of the spawn; nil before the first.
    var instant: Instant?
    /// The reason of the launch, or of the next one.
    var reason = Reason.launch
    /// The URL that the app was launched to open, if any.
    var url: String?
    /// The number of the event that the app was launched for, while it has no outcome.
    var event: UInt64?
    /// A Boolean value that indicates whether the app has answered the first launch callback with no.
    var hasDeclined = false
    /// A Boolean value that indicates whether the app has answered the launch callbacks. Cleared by a spawn, and by a new life cycle.
    var isComplete = false
    /// A Boolean value that indicates whether the app's scenes had a life cycle of their own when it was launched.
    var hasScenes = false
    /// A Boolean value that indicates whether the processes are no children of this daemon, so that their stops are not reported.
    var isForeign = false
}
