import CSystemd
import Glibc

/// A one-shot timer that can be armed again and again.
public final class TimerSource: EventSource<Void> {
    /// What a timer goes by.
    public enum Clock: Sendable {
        /// CLOCK_MONOTONIC, which stands still while the machine sleeps, so that a deadline is not missed for a closed
        /// lid.
        case monotonic
        /// CLOCK_REALTIME, which people set. An instant that was passed over in sleep counts on waking.
        case wall

        fileprivate var number: clockid_t {
            switch self {
            case .monotonic: CLOCK_MONOTONIC
            case .wall: CLOCK_REALTIME
            }
        }
    }

    init(loop: EventLoop, clock: Clock, handler: @escaping Handler) throws(SystemdError) {
        super.init(handler: handler)
        var source: OpaquePointer?
        let result = unsafe sd_event_add_time(
            loop.event,
            &source,
            clock.number,
            .max,
            TimerSource.accuracy,
            { _, _, userdata in unsafe TimerSource.deliver((), to: userdata) },
            userdata
        )
        try checked(result, "create a timer")
        unsafe adopt(source)
        disarm()
    }

    /// How late, in microseconds, libsystemd may be in order to wake the processor less often. Zero would mean 250 ms.
    private static let accuracy: UInt64 = 1

    /// Calls the handler once at that instant of its clock, or in the next iteration when it has passed.
    ///
    /// An instant that was set before is forgotten.
    public func arm(atMicroseconds instant: UInt64) {
        unsafe withSource { source in unsafe sd_event_source_set_time(source, instant) }
        setEnabled(SD_EVENT_ONESHOT)
    }

    /// Forgets the instant that was set. Harmless when none was.
    public func disarm() {
        setEnabled(SD_EVENT_OFF)
    }
}

extension EventLoop {
    /// Makes a timer, disarmed.
    ///
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left.
    public func timer(
        on clock: TimerSource.Clock = .monotonic, handler: @escaping TimerSource.Handler
    ) throws(SystemdError) -> TimerSource {
        try TimerSource(loop: self, clock: clock, handler: handler)
    }
}
