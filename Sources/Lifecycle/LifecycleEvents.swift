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
