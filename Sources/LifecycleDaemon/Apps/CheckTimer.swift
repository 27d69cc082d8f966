import Systemd

/// A timer for the checks of an operation. To make one takes longer than to stop an app, so the last one is kept for the next app.
final class CheckTimer {
    private static var spare: CheckTimer?

    private let loop: EventLoop
    private var source: TimerSource?
    private var handler: () -> Void = {}

    private init(_ loop: EventLoop) throws(SystemdError) {
        self.loop = loop
        source = try loop.timer { [weak self] in self?.handler() }
    }

    /// Returns a timer; nil if the kernel has no memory left.
    static func take(for loop: EventLoop) -> CheckTimer? {
        if let timer = spare.take(), timer.loop === loop { return timer }
        return try? CheckTimer(loop)
    }

    func arm(atMicroseconds instant: UInt64, handler: @escaping () -> Void) {
        self.handler = handler
        source?.arm(atMicroseconds: instant)
    }

    /// Disarms the timer, which belongs to no app from now on.
    func release() {
        source?.disarm()
        handler = {}
        Self.spare = self
    }
}
