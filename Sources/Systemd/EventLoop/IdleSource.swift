/// Work for which nothing waits. All such work runs together, after a pause, in one iteration of the loop.
@MainActor
public final class IdleSource {
    private let handler: () -> Void
    fileprivate let isLast: Bool
    private let round: IdleRound
    private var isScheduled = false

    fileprivate init(round: IdleRound, isLast: Bool, handler: @escaping () -> Void) {
        self.round = round
        self.isLast = isLast
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
    private var lastSources: [IdleSource] = []
    /// A Boolean value that indicates whether the timer is armed, or the sources are running.
    private var isBegun = false

    /// The pause, in microseconds. Meanwhile an app answers a callback that was sent.
    private static let pause: UInt64 = 1_000

    fileprivate init(loop: EventLoop) throws(SystemdError) {
        let owner = Owner<IdleRound>()
        timer = try loop.timer { owner.object?.run() }
        owner.object = self
    }

    fileprivate func append(_ source: IdleSource) {
        if source.isLast { lastSources.append(source) } else { sources.append(source) }
        if !isBegun { arm() }
    }

    private func arm() {
        isBegun = true
        timer.arm(atMicroseconds: monotonicMicroseconds() + Self.pause)
    }

    /// Runs the sources that are scheduled. Of those that they schedule, only the last ones belong to this round.
    private func run() {
        let due = sources
        sources.removeAll(keepingCapacity: true)
        for source in due { source.run() }
        let last = lastSources
        lastSources.removeAll(keepingCapacity: true)
        for source in last { source.run() }
        isBegun = false
        if !sources.isEmpty || !lastSources.isEmpty { arm() }
    }
}

extension EventLoop {
    /// Makes work that is not scheduled.
    ///
    /// - Parameters:
    ///   - isLast: Whether it follows the other work of its round.
    ///   - handler: Called once for each time that it was scheduled.
    /// - Returns: The work, which is dropped with this object.
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left.
    public func idle(
        isLast: Bool = false, _ handler: @escaping () -> Void
    ) throws(SystemdError) -> IdleSource {
        IdleSource(round: try round(), isLast: isLast, handler: handler)
    }

    private func round() throws(SystemdError) -> IdleRound {
        if let idleRound { return idleRound }
        let round = try IdleRound(loop: self)
        idleRound = round
        return round
    }
}
