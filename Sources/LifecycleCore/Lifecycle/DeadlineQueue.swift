import HeapModule

/// The deadlines of an app, at most one of each kind.
package enum DeadlineKind: String, Sendable, CaseIterable {
    /// The answer to a callback.
    case answer
    /// The answer to a resignation, which keeps an activation slot.
    case resignation
    /// The background time of an app that is not connected.
    case background
    /// The launch callbacks of an app that must answer them.
    case launch
    /// The return of an app after a restart of the daemon.
    case reconnection
    /// The exit of a process whose channel ended.
    case exit
    /// The end of an app that was continued to act upon a signal from outside.
    case signal
    /// The time of the background tasks.
    case tasks
    /// The end of expired background tasks.
    case taskExpiration = "task-expiration"
    /// The answer to a task.
    case performTask = "perform-task"
    /// The connection of an app for which events wait.
    case hello
    /// The time of an app that was woken and cannot be told for what.
    case woken
    /// The callbacks about the end of the scenes, before the end of the app.
    case sceneDisconnection = "scene-disconnection"
    /// The termination timeout after SIGTERM.
    case termination
    /// The end of the processes after SIGKILL.
    case killed
    /// The next launch by the restart policy.
    case restart
}

/// The deadlines of all apps in one heap.
///
/// The heap keeps entries that were cleared or replaced until they come up or outnumber the others; the table is the truth.
struct DeadlineQueue: Sendable {
    /// A deadline of an app, and the next one of the same app.
    private struct Node: Sendable {
        var instant: Instant
        var order: UInt64
        var next: Int32
        var kind: DeadlineKind
    }

    private struct Entry: Comparable, Sendable {
        let instant: Instant
        let order: UInt64
        let app: AppIndex
        let kind: DeadlineKind

        static func < (left: Entry, right: Entry) -> Bool {
            left.instant == right.instant ? left.order < right.order : left.instant < right.instant
        }
    }

    /// The first deadline of each app, as a position in ``nodes``; -1 for none. Most apps have none, and hardly one has three.
    private var first: [Int32] = []
    private var nodes: [Node] = []
    /// The first node that is not in use; -1 for none.
    private var firstFree: Int32 = -1
    private var liveCount = 0
    private var heap = Heap<Entry>()
    private var lastOrder: UInt64 = 0

    /// The number of entries, those that were cleared or replaced included.
    var entryCount: Int { heap.count }

    /// The earliest deadline.
    var earliest: Instant? { heap.min?.instant }

    private func find(_ kind: DeadlineKind, _ app: AppIndex) -> Int? {
        guard app.value < first.count else { return nil }
        var position = first[app.value]
        while position >= 0 {
            if nodes[Int(position)].kind == kind { return Int(position) }
            position = nodes[Int(position)].next
        }
        return nil
    }

    subscript(kind: DeadlineKind, app: AppIndex) -> Instant? { find(kind, app).map { nodes[$0].instant } }

    /// Returns the deadlines of an app, in the order of their kinds.
    func saved(_ app: AppIndex) -> [SavedDeadline] {
        guard app.value < first.count, first[app.value] >= 0 else { return [] }
        return DeadlineKind.allCases.compactMap { kind in self[kind, app].map { SavedDeadline(kind: kind, instant: $0) }
        }
    }

    mutating func set(_ kind: DeadlineKind, _ app: AppIndex, at instant: Instant) {
        lastOrder += 1
        if let position = find(kind, app) {
            (nodes[position].instant, nodes[position].order) = (instant, lastOrder)
        } else {
            insert(kind, app, at: instant)
        }
        heap.insert(Entry(instant: instant, order: lastOrder, app: app, kind: kind))
        dropStale()
    }

    private mutating func insert(_ kind: DeadlineKind, _ app: AppIndex, at instant: Instant) {
        while first.count <= app.value { first.append(-1) }
        let node = Node(instant: instant, order: lastOrder, next: first[app.value], kind: kind)
        if firstFree >= 0 {
            first[app.value] = firstFree
            firstFree = nodes[Int(firstFree)].next
            nodes[Int(first[app.value])] = node
        } else {
            first[app.value] = Int32(nodes.count)
            nodes.append(node)
        }
        liveCount += 1
    }

    mutating func clear(_ kind: DeadlineKind, _ app: AppIndex) {
        guard let position = find(kind, app) else { return }
        let next = nodes[position].next
        if first[app.value] == Int32(position) {
            first[app.value] = next
        } else {
            var before = Int(first[app.value])
            while nodes[before].next != Int32(position) { before = Int(nodes[before].next) }
            nodes[before].next = next
        }
        nodes[position].next = firstFree
        firstFree = Int32(position)
        liveCount -= 1
        dropStale()
    }

    /// Moves those of the deadlines that come earlier to this instant, behind those that are set to it already.
    mutating func postpone(_ kinds: [DeadlineKind], _ app: AppIndex, to instant: Instant) {
        for kind in kinds {
            if let due = self[kind, app], due <= instant { set(kind, app, at: instant) }
        }
    }

    mutating func clearAll(_ app: AppIndex) {
        for kind in DeadlineKind.allCases { clear(kind, app) }
    }

    /// Removes the earliest deadline that has come by `now`; of the same instant, the one that was set first.
    mutating func popDue(_ now: Instant) -> (app: AppIndex, kind: DeadlineKind)? {
        guard let entry = heap.min, entry.instant <= now else { return nil }
        clear(entry.kind, entry.app)
        return (entry.app, entry.kind)
    }

    /// Keeps the earliest entry a live one, and the heap in proportion to what is live.
    private mutating func dropStale() {
        while let entry = heap.min, !isLive(entry) { heap.removeMin() }
        if heap.count > 2 * liveCount + 64 { heap = Heap(heap.unordered.filter { isLive($0) }) }
    }

    private func isLive(_ entry: Entry) -> Bool { find(entry.kind, entry.app).map { nodes[$0].order } == entry.order }
}
