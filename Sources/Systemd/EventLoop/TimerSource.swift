import CSystemd
import Glibc

/// A one-shot timer that can be armed again and again. Its clock is CLOCK_MONOTONIC, which stands still while the machine sleeps,
/// so that a deadline is not missed for a closed lid.
public final class TimerSource: EventSource<Void> {
    init(loop: EventLoop, handler: @escaping Handler) throws(SystemdError) {
        super.init(handler: handler)
        var source: OpaquePointer?
        let result = unsafe sd_event_add_time(
            loop.event,
            &source,
            CLOCK_MONOTONIC,
            .max,
            TimerSource.accuracy,
            { _, _, userdata in unsafe TimerSource.deliver((), to: userdata) },
            userdata
        )
        try checked(result, "create a timer")
        unsafe setSource(source)
        disarm()
    }

    /// The delay, in microseconds, that libsystemd may add to wake the processor less often. Zero would mean 250 ms.
    private static let accuracy: UInt64 = 1

    /// Calls the handler once at that instant of its clock, or in the next iteration when it has passed.
    ///
    /// An instant that was set before is forgotten.
    public func arm(atMicroseconds instant: UInt64) {
        unsafe withSource { source in unsafe sd_event_source_set_time(source, instant) }
        setEnabled(SD_EVENT_ONESHOT)
    }

    /// Calls the handler once after a pause, as ``arm(atMicroseconds:)`` does.
    public func arm(afterMicroseconds pause: UInt64) { arm(atMicroseconds: monotonicMicroseconds() + pause) }

    /// Forgets the instant that was set. Harmless when none was.
    public func disarm() {
        setEnabled(SD_EVENT_OFF)
    }
}

extension EventLoop {
    /// Makes a timer, disarmed.
    ///
    /// - Parameter handler: Called once for each instant that was set.
    /// - Returns: The timer.
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left.
    public func timer(handler: @escaping TimerSource.Handler) throws(SystemdError) -> TimerSource {
        try TimerSource(loop: self, handler: handler)
    }
}

/// Work for later: runs in the next iteration of the loop, after the handler that asked for it has returned.
public final class LaterSource: EventSource<Void> {
    private let loop: EventLoop

    init(loop: EventLoop, handler: @escaping Handler) throws(SystemdError) {
        self.loop = loop
        super.init(handler: handler)
        unsafe setSource(try makeSource())
        setEnabled(SD_EVENT_OFF)
    }

    /// Makes the handler run once. Called from the handler itself, it makes it run once more, after other ready
    /// sources.
    public func schedule() {
        joinTheQueue()
        setEnabled(SD_EVENT_ONESHOT)
    }

    /// Replaces the source. libsystemd counts a deferred source as ready from its creation to its end, and dispatches
    /// the source first that has been ready longest: a source that goes on and on would keep all others waiting.
    private func joinTheQueue() {
        unsafe withSource { old in
            guard unsafe sd_event_source_get_enabled(old, nil) == SD_EVENT_OFF, let new = unsafe try? makeSource()
            else {
                return 0
            }
            var priority: Int64 = 0
            unsafe sd_event_source_get_priority(old, &priority)
            unsafe sd_event_source_set_priority(new, priority)
            unsafe setSource(new)
            unsafe sd_event_source_disable_unref(old)
            return 0
        }
    }

    private func makeSource() throws(SystemdError) -> OpaquePointer? {
        var source: OpaquePointer?
        let result = unsafe sd_event_add_defer(
            loop.event,
            &source,
            { _, userdata in unsafe LaterSource.deliver((), to: userdata) },
            userdata
        )
        try checked(result, "create a deferred source")
        return unsafe source
    }
}

extension EventLoop {
    /// Makes a deferred source that is not scheduled.
    ///
    /// - Parameter handler: Called once for each time that it was scheduled.
    /// - Returns: The source.
    /// - Throws: `SystemdError` when there is no memory left.
    public func later(handler: @escaping LaterSource.Handler) throws(SystemdError) -> LaterSource {
        try LaterSource(loop: self, handler: handler)
    }
}
