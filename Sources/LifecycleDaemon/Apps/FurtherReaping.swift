import Systemd

/// When all children are asked for, after one of them has told something.
///
/// SIGCHLDs that wait together are merged, so others may have something to tell. To ask for all takes the kernel longer the
/// more children there are (waitid(2) goes through them), so among thousands this is done for many SIGCHLDs at once.
nonisolated enum ReapingPace {
    /// What a child takes that has nothing to tell, in nanoseconds (measured with 9,800 of them).
    private static let costOfOne = 300
    /// Asking is to take a twentieth of the time at most.
    private static let share = 20
    /// However many there are, nobody's end stays unnoticed for longer, in microseconds.
    private static let longest = 100_000

    /// How long to let more come together, in microseconds.
    static func pause(children: Int) -> UInt64 { UInt64(min(children * costOfOne * share / 1000, longest)) }
}

/// Asks for all children once, however often it was begun.
final class FurtherReaping {
    /// Among so few, in microseconds of pause, a timer would take longer than asking.
    private static var leastPause: UInt64 { 1_000 }

    private var nextRound: DeferredSource?
    private var timer: TimerSource?
    private var isBegun = false

    init(loop: EventLoop, ask: @escaping () -> Void) throws(SystemdError) {
        let begunWork = { [weak self] in
            self?.isBegun = false
            ask()
        }
        nextRound = try loop.deferred(handler: begunWork)
        timer = try loop.timer(handler: begunWork)
    }

    /// Asks after so many microseconds, or when it was to ask anyway.
    func begin(after pause: UInt64, from now: UInt64) {
        guard !isBegun else { return }
        isBegun = true
        if pause < Self.leastPause { nextRound?.schedule() } else { timer?.arm(atMicroseconds: now + pause) }
    }
}
