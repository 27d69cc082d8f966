import Systemd

/// The end of the wait for a loop that has answered the clients that are there: nothing else is pending, or a second of requests
/// without a pause has passed.
struct FirstPause {
    /// The longest wait, in microseconds.
    private static let longestWait: UInt64 = 1_000_000

    private let idle: LaterSource
    private let timer: TimerSource

    init(_ events: Events) throws(SystemdError) {
        idle = try events.later(.firstPause, .idle)
        timer = try events.timer(.firstPause)
    }

    func begin() {
        idle.schedule()
        timer.arm(afterMicroseconds: Self.longestWait)
    }

    func end() {
        idle.cancel()
        timer.cancel()
    }
}
