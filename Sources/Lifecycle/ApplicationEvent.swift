/// What observers of an app hear: the same as its delegate, after it.
public enum ApplicationEvent: Hashable, Sendable {
    /// The first of all.
    case willFinishLaunching(LaunchOptions)
    /// Launching is done but for coming to the front.
    case didFinishLaunching(LaunchOptions)
    /// The app is in front and in use.
    case didBecomeActive
    /// The app is about to stop being in use.
    case willResignActive
    /// The app is out of sight.
    case didEnterBackground
    /// The app is about to come to the front.
    case willEnterForeground
    /// There is something to open.
    case openURL(String, OpenURLOptions)
    /// A person goes on here with what was begun elsewhere.
    case continueActivity(UserActivity)
    /// There is work to do out of sight.
    case performWork(BackgroundWork)
    /// Memory is running short.
    case didReceiveMemoryWarning
    /// The session is about to be locked.
    case protectedDataWillBecomeUnavailable
    /// The session was unlocked.
    case protectedDataDidBecomeAvailable
    /// The clock was set, the time zone is another one, or a day has begun.
    case significantTimeChange
    /// The scene with this identifier is there, and not yet to be seen.
    case sceneWillConnect(String, Scene.ConnectionOptions)
    /// The scene is about to come to the front.
    case sceneWillEnterForeground(String)
    /// The scene is in front and in use.
    case sceneDidBecomeActive(String)
    /// The scene is about to stop being in use.
    case sceneWillResignActive(String)
    /// The scene is out of sight.
    case sceneDidEnterBackground(String)
    /// The scene is gone.
    case sceneDidDisconnect(String)
    /// The process is about to exit. Observers are not waited for, and may not get as far as this.
    case willTerminate
}

/// The events of an app from when they were asked for.
///
/// Nobody waits for an observer. One that is slow misses the oldest of more than 64 events.
public struct ApplicationEvents: AsyncSequence, Sendable {
    /// What an iteration gives.
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

/// Those who iterate over an app's events.
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

    func tell(_ event: ApplicationEvent) {
        for continuation in continuations.values { continuation.yield(event) }
    }
}
