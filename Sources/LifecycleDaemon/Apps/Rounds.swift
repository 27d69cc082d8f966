import Systemd

/// Work on many, some of them each time that the loop comes round, so that nobody waits until all is done.
final class Rounds<Item: Hashable> {
    private var source: DeferredSource?
    private var queue: [Item] = []
    private var next = 0
    /// Those of the queue that are still to be worked on.
    private var waiting: Set<Item> = []

    /// As many as take some milliseconds.
    private static var itemsOfOne: Int { 32 }

    init(loop: EventLoop, work: @escaping (Item) -> Void) throws(SystemdError) {
        source = try loop.deferred { [weak self] in self?.goOn(with: work) }
    }

    /// Has an item worked on, in the order in which they were added. Adding it again while it waits changes nothing.
    func add(_ item: Item) {
        guard waiting.insert(item).inserted else { return }
        queue.append(item)
        source?.schedule()
    }

    /// Takes an item out that has not been worked on.
    func remove(_ item: Item) { waiting.remove(item) }

    private func goOn(with work: (Item) -> Void) {
        var left = Self.itemsOfOne
        while next < queue.count, left > 0 {
            let item = queue[next]
            next += 1
            guard waiting.remove(item) != nil else { continue }
            left -= 1
            work(item)
        }
        if next < queue.count {
            source?.schedule()
        } else {
            queue = []
            next = 0
        }
    }
}
