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
