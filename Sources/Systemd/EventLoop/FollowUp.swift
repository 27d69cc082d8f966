/// Work that follows the handler that asks for it, before the loop dispatches another event.
///
/// A deferred source of libsystemd with the first priority does the same with an iteration of the loop, which takes thousands of
/// instructions.
@MainActor
public final class FollowUp {
    private let handler: () -> Void
    private var isScheduled = false
    /// Makes the loop dispatch something if no handler is running.
    private let outsideOfHandlers: DeferredSource

    /// The work that was asked for, and the number of handlers that are running.
    private static var scheduled: [FollowUp] = []
    private static var runningHandlers = 0

    fileprivate init(loop: EventLoop, handler: @escaping () -> Void) throws(SystemdError) {
        self.handler = handler
        outsideOfHandlers = try loop.deferred(priority: .next) {}
    }

    /// Makes the handler run once. Called from the handler itself, it makes it run once more.
    public func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        Self.scheduled.append(self)
        if Self.runningHandlers == 0 { outsideOfHandlers.schedule() }
    }

    /// Runs a handler, and the work that it and this work ask for.
    static func run(behind handler: () -> Void) {
        runningHandlers += 1
        handler()
        while runningHandlers == 1, let next = scheduled.first {
            scheduled.removeFirst()
            next.isScheduled = false
            next.handler()
        }
        runningHandlers -= 1
    }
}

extension EventLoop {
    /// Makes work that is not scheduled.
    ///
    /// - Parameter handler: Called once for each time that it was scheduled.
    /// - Throws: `SystemdError` when there is no memory left.
    public func followUp(_ handler: @escaping () -> Void) throws(SystemdError) -> FollowUp {
        try FollowUp(loop: self, handler: handler)
    }
}
