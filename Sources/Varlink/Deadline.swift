/// An instant on the monotonic clock by which something must be done, or never.
struct Deadline {
    // On Linux this is CLOCK_MONOTONIC: time that the machine is asleep does not count.
    private static let clock = SuspendingClock()
    private let instant: SuspendingClock.Instant?

    init(after duration: Duration?) {
        instant = duration.map { Self.clock.now.advanced(by: min($0, Self.longest)) }
    }

    /// More than anybody waits, and far from overflowing anything.
    private static let longest = Duration.seconds(365 * 24 * 3600)

    /// The time that is left, nil for no limit. Throws once there is none.
    func remaining() throws(ClientError) -> Duration? {
        guard let instant else { return nil }
        let left = Self.clock.now.duration(to: instant)
        guard left > .zero else { throw .timedOut }
        return left
    }

    /// The time that is left as poll(2) wants it, in milliseconds rounded up; -1 for no limit.
    func pollTimeout() throws(ClientError) -> Int32 {
        guard let left = try remaining() else { return -1 }
        let (seconds, attoseconds) = left.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return Int32(clamping: milliseconds)
    }
}
