/// The events of an app, from the read of ``LifecycleApplication/events`` on.
///
/// The app does not wait for its observers. A slow observer misses the oldest of more than 64 events.
public struct LifecycleEvents: AsyncSequence, Sendable {
    /// The type of the events.
    public typealias Element = LifecycleEvent
    /// Iteration does not fail.
    public typealias Failure = Never

    private let stream: AsyncStream<LifecycleEvent>

    init(_ stream: AsyncStream<LifecycleEvent>) {
        self.stream = stream
    }

    /// Begins an iteration.
    public func makeAsyncIterator() -> AsyncStream<LifecycleEvent>.Iterator {
        stream.makeAsyncIterator()
    }
}

/// The iterations over an app's events.
@MainActor
final class Observers {
    private static let bufferedEvents = 64

    private var continuations: [Int: AsyncStream<LifecycleEvent>.Continuation] = [:]
    private var lastKey = 0

    func add() -> LifecycleEvents {
        lastKey += 1
        let key = lastKey
        let (stream, continuation) = AsyncStream.makeStream(
            of: LifecycleEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.continuations[key] = nil }
        }
        continuations[key] = continuation
        return LifecycleEvents(stream)
    }

    func send(_ event: LifecycleEvent) {
        for continuation in continuations.values { continuation.yield(event) }
    }
}
