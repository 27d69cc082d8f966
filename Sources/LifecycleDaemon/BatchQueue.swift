import DequeModule
import LifecycleCore
import Systemd

/// Apps that wait for work: a batch in each round of the loop, so that other events are handled in between.
struct BatchQueue {
    /// Schedules the first batch, after a pause; nil for the next round of the loop.
    private let first: IdleSource?
    private let next: LaterSource
    /// The apps in their order, and those that were removed since.
    private var queue: Deque<AppIndex> = []
    private var pending: Set<AppIndex> = []
    /// True until ``begin()``.
    private var isWaiting = true
    /// The number of apps that the present batch still has room for.
    private var room = Self.batchSize

    /// As many apps as take some milliseconds.
    private static let batchSize = 32

    init(first: IdleSource? = nil, next: LaterSource) {
        self.first = first
        self.next = next
    }

    mutating func append(_ app: AppIndex) {
        guard pending.insert(app).inserted else { return }
        queue.append(app)
        if !isWaiting, queue.count == 1 { schedule() }
    }

    /// Lets the work begin.
    mutating func begin() {
        isWaiting = false
        if !queue.isEmpty { schedule() }
    }

    private func schedule() {
        if let first { first.schedule() } else { next.schedule() }
    }

    mutating func remove(_ app: AppIndex) { pending.remove(app) }

    /// Takes the next app of the batch; nil at its end, when the next batch is scheduled.
    mutating func take() -> AppIndex? {
        while room > 0, let app = queue.popFirst() {
            guard pending.remove(app) != nil else { continue }
            room -= 1
            return app
        }
        room = Self.batchSize
        if !queue.isEmpty { next.schedule() }
        return nil
    }
}
