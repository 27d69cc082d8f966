/// Work for which nothing waits. All such work runs together, after a pause, in one iteration of the loop.
@MainActor
public final class IdleSource {
    private let handler: () -> Void
    private let round: IdleRound
    private var isScheduled = false

    fileprivate init(round: IdleRound, handler: @escaping () -> Void) {
        self.round = round
        self.handler = handler
    }

    /// Makes the handler run once.
    public func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        round.append(self)
    }

    fileprivate func run() {
        isScheduled = false
        handler()
    }
}

/// The work that waits for the same pause, in the order in which it was scheduled.
@MainActor
final class IdleRound {
    private let timer: TimerSource
    private var sources: [IdleSource] = []

    /// The pause, in microseconds. Meanwhile an app answers a callback that was sent.
    private static let pause: UInt64 = 1_000

    fileprivate init(loop: EventLoop) throws(SystemdError) {
        let owner = Owner<IdleRound>()
        timer = try loop.timer { owner.object?.run() }
        owner.object = self
    }

    fileprivate func append(_ source: IdleSource) {
        sources.append(source)
        if sources.count == 1 { timer.arm(afterMicroseconds: Self.pause) }
    }

    /// Runs the sources that are scheduled. Those that they schedule wait for another pause.
    private func run() {
        let due = sources
        sources = []
        for source in due { source.run() }
    }
}

extension EventLoop {
    /// Makes work that is not scheduled.
    ///
    /// - Parameter handler: Called once for each time that it was scheduled.
    /// - Returns: The work, which is dropped with this object.
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left.
    public func idle(_ handler: @escaping () -> Void) throws(SystemdError) -> IdleSource {
        IdleSource(round: try round(), handler: handler)
    }

    private func round() throws(SystemdError) -> IdleRound {
        if let idleRound { return idleRound }
        let round = try IdleRound(loop: self)
        idleRound = round
        return round
    }
}
