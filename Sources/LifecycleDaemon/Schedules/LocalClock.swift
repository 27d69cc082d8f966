import Calendar
import Glibc
import LifecycleCore

/// What the clocks of the machine's own place show, as the C library knows it: localtime_r(3).
///
/// A new time zone counts after the next call of tzset(3).
struct LocalClock: TimeZoneRules {
    func offset(at second: Int) -> Int {
        var instant = time_t(second)
        var local = unsafe tm()
        guard unsafe localtime_r(&instant, &local) != nil else { return 0 }
        return unsafe local.tm_gmtoff
    }
}

extension Timestamp {
    /// The wall clock at this very moment.
    static var now: Timestamp {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: time.tv_sec * 1_000_000 + time.tv_nsec / 1000)
    }

    /// So much later.
    static func + (instant: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(microseconds: instant.microseconds + Int(clamping: duration.wholeMicroseconds))
    }
}
