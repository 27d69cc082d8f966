import CSystemd
import Glibc

/// The daemon's event loop, which runs once: sd-event(3) of libsystemd on the main thread.
///
/// It wakes only for its sources, and for the service manager's watchdog if that is enabled. A source is watched as long as its object is
/// kept; to drop the object, or to call its `cancel()`, ends it at once, from inside its own handler too.
@MainActor
@safe public final class EventLoop {
    let event: OpaquePointer
    /// The work for which nothing waits; nil before there is a source of it.
    var idleRound: IdleRound?

    /// Makes a loop that watches nothing.
    ///
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left.
    public init() throws(SystemdError) {
        var event: OpaquePointer?
        try unsafe checked(sd_event_new(&event), "create the event loop")
        guard let event = unsafe event else { throw SystemdError(operation: "create the event loop", errno: ENOMEM) }
        unsafe self.event = event
    }

    isolated deinit {
        unsafe sd_event_unref(event)
    }

    /// Dispatches events, one after the other, until `exit(code:)` is called.
    ///
    /// - Parameter afterEach: Called after the handler of each event, before another event.
    /// - Returns: the code that was given to `exit(code:)`.
    /// - Throws: `SystemdError` when the loop itself fails, which leaves it unusable.
    public func run(afterEach: () -> Void = {}) throws(SystemdError) -> Int32 {
        while unsafe sd_event_get_state(event) != Int32(SD_EVENT_FINISHED) {
            try unsafe checked(sd_event_run(event, .max), "run the event loop")
            afterEach()
        }
        var code: Int32 = 0
        try unsafe checked(sd_event_get_exit_code(event, &code), "read the exit code of the event loop")
        return code
    }

    /// The descriptor by which another loop waits for this one: readable when ``dispatchReady()`` has something to do.
    ///
    /// `run()` must not be called then.
    public var descriptor: Int32 { unsafe sd_event_get_fd(event) }

    /// Dispatches the events that are there, and waits for none.
    ///
    /// - Parameter afterEach: Called after the handler of each event, before another event.
    /// - Throws: `SystemdError` when the loop itself fails, which leaves it unusable.
    public func dispatchReady(afterEach: () -> Void = {}) throws(SystemdError) {
        while try unsafe checked(sd_event_run(event, 0), "run the event loop") > 0 { afterEach() }
    }

    /// Makes `run()` return `code` once the handler that is running has returned.
    ///
    /// A loop that has ended already stays ended, so calling this twice is harmless.
    public func exit(code: Int32) {
        // The only failures are those of a loop that is finished or belongs to another process.
        _ = unsafe sd_event_exit(event, code)
    }

    /// When the present iteration woke up, in microseconds of CLOCK_MONOTONIC.
    ///
    /// All handlers of one iteration see the same instant. Before the first iteration it is the clock itself.
    public var now: UInt64 {
        var microseconds: UInt64 = 0
        guard unsafe sd_event_now(event, CLOCK_MONOTONIC, &microseconds) >= 0 else { return freshNow }
        return microseconds
    }

    /// CLOCK_MONOTONIC at this very moment, in microseconds, however long the present handler has been running.
    public var freshNow: UInt64 { monotonicMicroseconds() }

    /// Pings the service manager's watchdog from the loop, at the rate that the manager asked for.
    ///
    /// - Returns: Whether the manager asked for it (`WatchdogSec=` in the unit, see sd_event_set_watchdog(3)).
    /// - Throws: `SystemdError` when the environment makes no sense, or there is no memory left.
    @discardableResult
    public func enableWatchdog() throws(SystemdError) -> Bool {
        try unsafe checked(sd_event_set_watchdog(event, 1), "enable the watchdog") > 0
    }
}

/// Returns CLOCK_MONOTONIC at this very moment, in microseconds: the clock that the loop, its timers and the service
/// manager share.
func monotonicMicroseconds() -> UInt64 {
    var time = timespec()
    // Fails only for a clock that does not exist.
    guard unsafe clock_gettime(CLOCK_MONOTONIC, &time) == 0 else { return 0 }
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1_000
}
