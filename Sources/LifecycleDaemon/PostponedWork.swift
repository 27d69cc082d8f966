import Systemd

/// Work that waits until the loop has answered the clients that are there: it begins when nothing else is pending, or after a second
/// of requests without a pause.
final class PostponedWork {
    /// The longest wait, in microseconds.
    private static let longestWait: UInt64 = 1_000_000

    private var idle: DeferredSource?
    private var timer: TimerSource?
    private var work: (() -> Void)?

    init(loop: EventLoop, work: @escaping () -> Void) throws(SystemdError) {
        self.work = work
        idle = try loop.deferred { [weak self] in self?.begin() }
        idle?.setPriority(.idle)
        idle?.schedule()
        timer = try loop.timer { [weak self] in self?.begin() }
        timer?.arm(atMicroseconds: loop.freshNow + Self.longestWait)
    }

    private func begin() {
        (idle, timer) = (nil, nil)
        let work = work
        self.work = nil
        work?()
    }
}
