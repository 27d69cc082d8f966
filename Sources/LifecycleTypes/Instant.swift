/// A point on the monotonic clock, in microseconds. The core is told what time it is; it never looks.
public struct Instant: Hashable, Sendable, Comparable {
    /// Microseconds on `CLOCK_MONOTONIC` (clock_gettime(2)), or on a test's virtual clock.
    public var microseconds: UInt64

    /// Makes the instant that many microseconds after the clock's zero.
    public init(microseconds: UInt64) {
        self.microseconds = microseconds
    }

    /// Returns whether an instant is before another.
    ///
    /// - Parameters:
    ///   - left: An instant.
    ///   - right: The instant to compare with, on the same clock.
    /// - Returns: True if the left instant is earlier.
    public static func < (left: Instant, right: Instant) -> Bool { left.microseconds < right.microseconds }

    /// Returns a later instant.
    ///
    /// - Parameters:
    ///   - instant: An instant.
    ///   - duration: The time after it; a negative duration counts as none.
    /// - Returns: The instant that is so much later, at most the last one of the clock.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.microseconds.addingReportingOverflow(duration.wholeMicroseconds)
        return Instant(microseconds: overflow ? .max : sum)
    }

    /// Returns the time from `earlier` to this instant; zero if this instant is earlier.
    public func duration(since earlier: Instant) -> Duration {
        guard self > earlier else { return .zero }
        return .microseconds(Int64(clamping: microseconds - earlier.microseconds))
    }
}

extension Duration {
    /// The duration in whole microseconds, zero for a negative one.
    public var wholeMicroseconds: UInt64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : scaled &+ UInt64(attoseconds / 1_000_000_000_000)
    }
}
