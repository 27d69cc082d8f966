import LifecycleCore

/// Whose a process is.
enum ProcessOwner: Equatable {
    /// One of the processes of an app.
    case app(AppID)
    /// A process that has nothing to do with the apps.
    case noApp
    /// One of an app that is no more, or one that cannot be looked at.
    case unknown
}
