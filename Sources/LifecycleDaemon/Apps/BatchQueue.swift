import Systemd

/// Work on many items, a batch in each round of the loop, so that other events are handled in between.
final class BatchQueue<Item: Hashable> {
    private let loop: EventLoop
    private var source: DeferredSource?
    /// Schedules the first batch; nil for one in the next round of the loop.
    private var timer: TimerSource?
    private let pause: UInt64
    private var queue: [Item] = []
    private var next = 0
    /// Items of the queue that are not done or removed.
    private var pending: Set<Item> = []
    /// A Boolean value that indicates whether the work waits for ``begin()``.
    private var isHeld: Bool

    /// As many items as take some milliseconds.
    private static var batchSize: Int { 32 }

    /// - Parameters:
    ///   - isHeld: Whether the work waits for ``begin()``.
    ///   - pause: The time from the first item to the first batch, in microseconds.
    init(
        loop: EventLoop, isHeld: Bool = false, pause: UInt64 = 0, work: @escaping (Item) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.isHeld = isHeld
        self.pause = pause
        source = try loop.deferred { [weak self] in self?.runBatch(work) }
        if pause > 0 { timer = try loop.timer { [weak self] in self?.runBatch(work) } }
    }

    func append(_ item: Item) {
        guard pending.insert(item).inserted else { return }
        queue.append(item)
        if !isHeld, queue.count == 1 { schedule() }
    }

    func begin() {
        isHeld = false
        if !queue.isEmpty { schedule() }
    }

    private func schedule() {
        if let timer { timer.arm(atMicroseconds: loop.freshNow + pause) } else { source?.schedule() }
    }

    func remove(_ item: Item) {
        // A set without items, too, computes the hash.
        if !pending.isEmpty { pending.remove(item) }
    }

    private func runBatch(_ work: (Item) -> Void) {
        var left = Self.batchSize
        while next < queue.count, left > 0 {
            let item = queue[next]
            next += 1
            guard pending.remove(item) != nil else { continue }
            left -= 1
            work(item)
        }
        if next < queue.count {
            source?.schedule()
        } else {
            queue = []
            next = 0
            // Otherwise it keeps room for as many items as there ever were.
            pending = []
        }
    }
}

/// Reaps all children, once for many SIGCHLDs.
///
/// SIGCHLDs that are pending together are merged, so all children must be asked. waitid(2) takes longer the more children
/// there are.
final class DelayedReaping {
    /// The time for a child with nothing to report, in nanoseconds (measured with 9,800 children).
    private nonisolated static let childCost = 300
    /// Reaping takes at most one part in so many of the time.
    private nonisolated static let share = 20
    /// The longest time in which an end stays unnoticed, in microseconds.
    private nonisolated static let longestPause = 100_000
    /// The pause below which arming a timer takes longer than reaping, in microseconds.
    private static let leastPause: UInt64 = 1_000

    private var nextRound: DeferredSource?
    private var timer: TimerSource?
    private var isBegun = false

    init(loop: EventLoop, reap: @escaping () -> Void) throws(SystemdError) {
        let work = { [weak self] in
            self?.isBegun = false
            reap()
        }
        nextRound = try loop.deferred(handler: work)
        timer = try loop.timer(handler: work)
    }

    /// Reaps after a pause in microseconds, or earlier if it has begun already.
    func begin(after pause: UInt64, from now: UInt64) {
        guard !isBegun else { return }
        isBegun = true
        if pause < Self.leastPause { nextRound?.schedule() } else { timer?.arm(atMicroseconds: now + pause) }
    }

    nonisolated static func pause(children: Int) -> UInt64 {
        UInt64(min(children * childCost * share / 1000, longestPause))
    }
}
