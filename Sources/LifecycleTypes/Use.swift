/// A use of an app that is not in the foreground. If an app has several, the first one here is named.
public enum Use: String, Sendable, CaseIterable {
    /// A window of the app is visible.
    case visible
    /// The pointer is over a window of the app.
    case pointed
    /// The app plays sound.
    case playing
    /// A program waits for a reply of the app on the message bus.
    case called
    /// A process waits for a file lock that the app holds.
    case awaited
    /// The app's connection to the display server is nearly full of events that it has not read.
    case unread
    /// The desktop has launched the app once more, while it runs.
    case relaunched
    /// The desktop launched the app, and no client reports which windows are visible.
    case unfollowed
}
