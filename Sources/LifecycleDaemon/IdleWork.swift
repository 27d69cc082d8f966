import DequeModule
import LifecycleCore
import Systemd

/// Work on many apps, a batch in each round of the loop, so that other events are handled in between.
final class BatchQueue {
    /// The beginning of the first batch.
    enum Start {
        /// The next round of the loop.
        case later
        /// The end of a pause, when the clients that are there have their answers.
        case idle
    }

    private let nextBatch: LaterSource
    /// Schedules the first batch.
    private let schedule: () -> Void
    /// The apps in their order, and those that were removed since.
    private var queue: Deque<AppIndex> = []
    private var pending: Set<AppIndex> = []
    /// True while the work waits for ``begin()``.
    private var isWaiting: Bool

    /// As many apps as take some milliseconds.
    private static let batchSize = 32

    /// - Parameters:
    ///   - isWaiting: Whether the work waits for ``begin()``.
    ///   - start: The beginning of the first batch. The others follow in rounds of the loop.
    init(
        loop: EventLoop, isWaiting: Bool = false, start: Start = .later, work: @escaping (AppIndex) -> Void
    ) throws(SystemdError) {
        self.isWaiting = isWaiting
        let owner = Owner<BatchQueue>()
        let batch: () -> Void = { owner.object?.runBatch(work) }
        nextBatch = try loop.later(handler: batch)
        switch start {
        case .later: schedule = nextBatch.schedule
        case .idle: schedule = try loop.idle(batch).schedule
        }
        owner.object = self
    }

    func append(_ app: AppIndex) {
        guard pending.insert(app).inserted else { return }
        queue.append(app)
        if !isWaiting, queue.count == 1 { schedule() }
    }

    func begin() {
        isWaiting = false
        if !queue.isEmpty { schedule() }
    }

    func remove(_ app: AppIndex) { pending.remove(app) }

    private func runBatch(_ work: (AppIndex) -> Void) {
        var left = Self.batchSize
        while left > 0, let app = queue.popFirst() {
            guard pending.remove(app) != nil else { continue }
            left -= 1
            work(app)
        }
        if !queue.isEmpty { nextBatch.schedule() }
    }
}

/// The end of the wait for a loop that has answered the clients that are there: nothing else is pending, or a second of requests
/// without a pause has passed.
struct FirstPause {
    /// The longest wait, in microseconds.
    private static let longestWait: UInt64 = 1_000_000

    private let idle: LaterSource
    private let timer: TimerSource

    init(_ events: Events) throws(SystemdError) {
        idle = try events.later(.firstPause, .idle)
        idle.schedule()
        timer = try events.timer(.firstPause)
        timer.arm(afterMicroseconds: Self.longestWait)
    }
}
