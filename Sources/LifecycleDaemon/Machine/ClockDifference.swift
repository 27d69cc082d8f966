import Glibc
import LifecycleCore

/// How far the wall clock is ahead of the core's clock.
///
/// Two clocks cannot be read at one moment, so the difference comes out a little otherwise each time. It is kept until it
/// has really changed: whoever asks twice when something happened is to be told the same date.
final class ClockDifference {
    /// The wall clock, read between two readings of the core's clock, in microseconds.
    struct Reading {
        let before: Int64
        let wall: Int64
        let after: Int64
    }

    private let read: @MainActor () -> Reading
    private var kept: Int64?
    /// In microseconds: less than a person sets a clock by.
    private static let tolerance: Int64 = 20_000

    init(read: @escaping @MainActor () -> Reading = Reading.now) {
        self.read = read
    }

    /// The date of an instant, as the wall clock stands now, in microseconds since the epoch. An instant that is too far
    /// away to have one, as in a damaged state file, has the last that there is.
    func date(of instant: Instant) -> Int64 {
        let (date, overflow) = Int64(clamping: instant.microseconds).addingReportingOverflow(microseconds)
        return overflow ? .max : date
    }

    /// In microseconds.
    var microseconds: Int64 {
        let reading = read()
        let fresh = reading.wall - reading.before
        // On a busy machine a long time can lie between two readings, and looks like a clock that was set.
        let uncertainty = reading.after - reading.before
        if let kept, abs(fresh - kept) <= Self.tolerance + uncertainty { return kept }
        kept = fresh
        return fresh
    }
}

extension ClockDifference.Reading {
    fileprivate static func now() -> Self {
        Self(
            before: microseconds(of: CLOCK_MONOTONIC), wall: microseconds(of: CLOCK_REALTIME),
            after: microseconds(of: CLOCK_MONOTONIC))
    }

    private static func microseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
