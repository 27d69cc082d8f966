/// The events of an app for its observers, which follow the calls of its delegate.
public enum ApplicationEvent: Hashable, Sendable {
    /// The process runs. The first event.
    case willFinishLaunching(LaunchOptions)
    /// The launch is almost complete.
    case didFinishLaunching(LaunchOptions)
    /// The app is active.
    case didBecomeActive
    /// The app is about to become inactive.
    case willResignActive
    /// The app is in the background.
    case didEnterBackground
    /// The app is about to enter the foreground.
    case willEnterForeground
    /// The app was handed a URL to open.
    case openURL(String, OpenURLOptions)
    /// The app was handed an activity that was begun elsewhere.
    case continueActivity(UserActivity)
    /// The app was handed work for the background.
    case performWork(BackgroundWork)
    /// Memory is short.
    case didReceiveMemoryWarning
    /// The session is about to be locked.
    case protectedDataWillBecomeUnavailable
    /// The session was unlocked.
    case protectedDataDidBecomeAvailable
    /// The clock was set, the time zone changed, or a day began.
    case significantTimeChange
    /// The scene with this identifier is connected, and not visible yet.
    case sceneWillConnect(String, Scene.ConnectionOptions)
    /// The scene is about to enter the foreground.
    case sceneWillEnterForeground(String)
    /// The scene is active.
    case sceneDidBecomeActive(String)
    /// The scene is about to become inactive.
    case sceneWillResignActive(String)
    /// The scene is in the background.
    case sceneDidEnterBackground(String)
    /// The scene was disconnected.
    case sceneDidDisconnect(String)
    /// The process is about to exit. It does not wait for observers, which may miss this event.
    case willTerminate
}

/// The events of an app from when they were asked for.
///
/// The app does not wait for its observers. A slow observer misses the oldest of more than 64 events.
public struct ApplicationEvents: AsyncSequence, Sendable {
    /// The type of the events.
    public typealias Element = ApplicationEvent
    /// Iteration does not fail.
    public typealias Failure = Never

    private let stream: AsyncStream<ApplicationEvent>

    init(_ stream: AsyncStream<ApplicationEvent>) {
        self.stream = stream
    }

    /// Begins an iteration.
    public func makeAsyncIterator() -> AsyncStream<ApplicationEvent>.Iterator {
        stream.makeAsyncIterator()
    }
}

/// The iterations over an app's events.
@MainActor
final class Observers {
    private static let bufferedEvents = 64

    private var continuations: [Int: AsyncStream<ApplicationEvent>.Continuation] = [:]
    private var lastKey = 0

    func add() -> ApplicationEvents {
        lastKey += 1
        let key = lastKey
        let (stream, continuation) = AsyncStream.makeStream(
            of: ApplicationEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.continuations[key] = nil }
        }
        continuations[key] = continuation
        return ApplicationEvents(stream)
    }

    func send(_ event: ApplicationEvent) {
        for continuation in continuations.values { continuation.yield(event) }
    }
}
