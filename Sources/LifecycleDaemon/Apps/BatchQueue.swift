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
