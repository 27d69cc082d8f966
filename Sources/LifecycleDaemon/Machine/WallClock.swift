import CLinux
import Glibc
import Processes

/// CLOCK_REALTIME, and what a person would read from it.
enum WallClock {
    /// Whole seconds since the epoch.
    static var now: Int64 { Int64(time(CLOCK_REALTIME).tv_sec) }

    /// How far the wall clock is ahead of the time since boot, sleep included.
    ///
    /// It changes only when the clock is set: neither by sleep nor by NTP's slewing, which both clocks share.
    static var aheadOfBoot: Duration { Duration(time(CLOCK_REALTIME)) - Duration(time(CLOCK_BOOTTIME)) }

    /// The second at which the next day begins in the local time zone. Where a change of the zone's offset leaves out
    /// midnight, the first second after it.
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
        // Only for years that a calendar does not have.
        return midnight > second ? midnight : second + 86_400
    }

    private static func time(_ clock: clockid_t) -> timespec {
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

/// A timer on CLOCK_REALTIME that also ends when the clock is set, or the machine wakes: timerfd_create(2).
struct WallClockTimer: ~Copyable {
    enum Reading {
        /// Its second has come.
        case expired
        /// The clock was set, or the machine was asleep.
        case cancelled
        /// Nothing has happened.
        case pending
    }

    let descriptor: Descriptor

    init() throws(Processes.Errno) {
        let number = linux_wall_clock_timer()
        guard number >= 0 else { throw Processes.Errno(rawValue: -number) }
        descriptor = Descriptor(owning: number)
    }

    /// Sets the second that it waits for. False when the clock was set since it was last read; it is set all the same.
    func arm(at second: Int64) throws(Processes.Errno) -> Bool {
        let result = linux_arm_wall_clock_timer(descriptor.rawValue, second)
        guard result == 0 || result == -ECANCELED else { throw Processes.Errno(rawValue: -result) }
        return result == 0
    }

    /// Takes note of what has happened, which makes the descriptor quiet.
    func read() -> Reading {
        switch linux_read_timer(descriptor.rawValue) {
        case 0: .expired
        case -ECANCELED: .cancelled
        default: .pending
        }
    }
}
