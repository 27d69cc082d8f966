import CLinux
import Glibc
import LifecycleCore
import Processes

/// CLOCK_REALTIME and the local calendar.
enum WallClock {
    static var now: Int64 { Int64(time(CLOCK_REALTIME).tv_sec) }

    /// The difference to the time since boot, sleep included. It changes only when the clock is set: NTP slews both clocks.
    static var aheadOfBoot: Duration { Duration(time(CLOCK_REALTIME)) - Duration(time(CLOCK_BOOTTIME)) }

    /// Returns the second at which the next day begins in the local time zone, also where a change of the zone's offset skips
    /// midnight.
    static func nextMidnight(after second: Int64) -> Int64 {
        var instant = time_t(second)
        var day = unsafe tm()
        guard unsafe localtime_r(&instant, &day) != nil else { return second + 86_400 }
        unsafe day.tm_mday += 1
        unsafe day.tm_hour = 0
        unsafe day.tm_min = 0
        unsafe day.tm_sec = 0
        unsafe day.tm_isdst = -1
        let midnight = Int64(unsafe mktime(&day))
        // Not so for years outside the calendar alone.
        return midnight > second ? midnight : second + 86_400
    }

    fileprivate static func time(_ clock: clockid_t) -> timespec {
        var value = timespec()
        _ = unsafe clock_gettime(clock, &value)
        return value
    }
}

extension Duration {
    fileprivate init(_ time: timespec) {
        self = .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

extension timespec {
    fileprivate var microseconds: Int { tv_sec * 1_000_000 + tv_nsec / 1000 }
}

/// A timer on CLOCK_REALTIME that also ends when the clock is set or the machine wakes: timerfd_create(2).
struct WallClockTimer: ~Copyable {
    enum Reading {
        case expired
        /// The clock was set, or the machine was asleep.
        case cancelled
        case pending
    }

    let descriptor: Descriptor

    init() throws(Errno) {
        let number = linux_wall_clock_timer()
        guard number >= 0 else { throw Errno(rawValue: -number) }
        descriptor = Descriptor(owning: number)
    }

    /// Arms the timer.
    ///
    /// - Returns: A Boolean value that is false if the clock was set since the last reading. The timer is armed all the same.
    func arm(at second: Int64) throws(Errno) -> Bool {
        let result = linux_arm_wall_clock_timer(descriptor.rawValue, second)
        guard result == 0 || result == -ECANCELED else { throw Errno(rawValue: -result) }
        return result == 0
    }

    /// Reads the state, after which the descriptor is not ready.
    func read() -> Reading {
        switch linux_read_timer(descriptor.rawValue) {
        case 0: .expired
        case -ECANCELED: .cancelled
        default: .pending
        }
    }
}

/// The difference between the wall clock and the core's clock.
///
/// Two clocks cannot be read at one instant, so readings differ a little. The difference is kept until the clock was set, so
/// that an event always has the same date.
final class ClockDifference {
    /// The wall clock between two readings of the core's clock, in microseconds.
    struct Reading {
        let before: Int64
        let wall: Int64
        let after: Int64
    }

    private let read: @MainActor () -> Reading
    private var kept: Int64?
    /// Less than a user sets a clock by, in microseconds.
    private static let tolerance: Int64 = 20_000

    init(read: @escaping @MainActor () -> Reading = Reading.now) {
        self.read = read
    }

    /// Returns the date of an instant, in microseconds since the epoch. It is clamped: the instants of a damaged state file
    /// may have no date.
    func date(of instant: Instant) -> Int64 {
        let (date, overflow) = Int64(clamping: instant.microseconds).addingReportingOverflow(microseconds)
        return overflow ? .max : date
    }

    var microseconds: Int64 {
        let reading = read()
        let fresh = reading.wall - reading.before
        // On a busy machine a long time between two readings looks like a clock that was set.
        let uncertainty = reading.after - reading.before
        if let kept, abs(fresh - kept) <= Self.tolerance + uncertainty { return kept }
        kept = fresh
        return fresh
    }
}

extension ClockDifference.Reading {
    fileprivate static func now() -> Self {
        func microseconds(_ clock: clockid_t) -> Int64 { Int64(WallClock.time(clock).microseconds) }
        return Self(
            before: microseconds(CLOCK_MONOTONIC), wall: microseconds(CLOCK_REALTIME),
            after: microseconds(CLOCK_MONOTONIC))
    }
}
