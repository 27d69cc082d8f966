import Systemd

/// Reaps all children, once for many SIGCHLDs.
///
/// SIGCHLDs that are pending together are merged, so all children must be asked. waitid(2) takes longer the more children
/// there are.
final class DelayedReaping {
    /// The number of children that are asked in less time than a round of the loop takes.
    static let fewChildren = 32
    /// The time for a child with nothing to report, in nanoseconds (measured with 9,800 children).
    private nonisolated static let childCost = 300
    /// Reaping takes at most one part in so many of the time.
    private nonisolated static let share = 20
    /// The longest time in which an end stays unnoticed, in microseconds.
    private nonisolated static let longestPause = 100_000
    /// The pause below which arming a timer takes longer than reaping, in microseconds.
    private static let leastPause: UInt64 = 1_000

    private let nextRound: DeferredSource
    private let timer: TimerSource
    private var isBegun = false

    init(loop: EventLoop, reap: @escaping () -> Void) throws(SystemdError) {
        let owner = Owner<DelayedReaping>()
        let work = {
            owner.object?.isBegun = false
            reap()
        }
        nextRound = try loop.deferred(handler: work)
        timer = try loop.timer(handler: work)
        owner.object = self
    }

    /// Reaps after a pause in microseconds, or earlier if it has begun already.
    func begin(after pause: UInt64, from now: UInt64) {
        guard !isBegun else { return }
        isBegun = true
        if pause < Self.leastPause { nextRound.schedule() } else { timer.arm(atMicroseconds: now + pause) }
    }

    nonisolated static func pause(children: Int) -> UInt64 {
        UInt64(min(children * childCost * share / 1000, longestPause))
    }
}
