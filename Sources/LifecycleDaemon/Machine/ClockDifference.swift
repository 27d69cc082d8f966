import Glibc
import LifecycleCore

/// How far the wall clock is ahead of the core's clock.
///
/// Two clocks cannot be read at one moment, so the difference comes out a little otherwise each time. It is kept until it
/// has really changed: whoever asks twice when something happened is to be told the same date.
final class ClockDifference {
    private var kept: Int64?
    /// In microseconds: far more than lies between two readings, as a rule, and less than a person sets a clock by.
    private static let tolerance: Int64 = 20_000

    /// In microseconds.
    func difference(from now: Instant) -> Int64 {
        var wall = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &wall)
        let fresh = Int64(wall.tv_sec) * 1_000_000 + Int64(wall.tv_nsec) / 1000 - Int64(clamping: now.microseconds)
        if let kept, abs(fresh - kept) <= Self.tolerance { return kept }
        kept = fresh
        return fresh
    }
}
