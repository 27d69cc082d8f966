import HeapModule

/// The deadlines of an app, at most one of each kind.
enum DeadlineKind: String, Sendable, CaseIterable {
    /// The answer to a callback.
    case answer
    /// The answer to a resignation, which keeps an activation slot.
    case resignation
    /// The background time of an app that is not connected.
    case background
    /// The launch callbacks of an app that must answer them.
    case launch
    /// The return of an app after a restart of the daemon.
    case comeBack = "come-back"
    /// The exit of a process whose channel ended.
    case hangUp = "hang-up"
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
    case parting
    /// The termination timeout after SIGTERM.
    case grace
    /// The end of the processes after SIGKILL.
    case killed
    /// The next launch by the restart policy.
    case restart

    /// The position of the kind among the deadlines of an app.
    var ordinal: Int {
        switch self {
        case .answer: 0
        case .resignation: 1
        case .background: 2
        case .launch: 3
        case .comeBack: 4
        case .hangUp: 5
        case .tasks: 6
        case .taskExpiration: 7
        case .performTask: 8
        case .hello: 9
        case .woken: 10
        case .parting: 11
        case .grace: 12
        case .killed: 13
        case .restart: 14
        }
    }

    /// The number of kinds.
    static let count = 15
}

/// The deadlines of all apps in one heap.
///
/// The heap keeps entries that were cleared or replaced until they come up or outnumber the others; the table is the truth.
struct DeadlineQueue: Sendable {
    private struct Slot: Sendable {
        var instant = Instant(microseconds: .max)
        var order: UInt64 = 0
    }

    private struct Entry: Comparable, Sendable {
        let instant: Instant
        let order: UInt64
        let app: AppIndex
        let kind: DeadlineKind

        static func < (left: Entry, right: Entry) -> Bool {
            left.instant == right.instant ? left.order < right.order : left.instant < right.instant
        }

        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    }

    /// `DeadlineKind.count` slots for each app; an order of 0 means that there is no deadline.
    private var slots: [Slot] = []
    private var liveCount = 0
    private var heap = Heap<Entry>()
    private var lastOrder: UInt64 = 0

    /// The number of entries, those that were cleared or replaced included.
    var entryCount: Int { heap.count }

    /// The earliest deadline.
    var earliest: Instant? { heap.min?.instant }

    private func position(_ kind: DeadlineKind, _ app: AppIndex) -> Int {
        app.value * DeadlineKind.count + kind.ordinal
    }

    subscript(kind: DeadlineKind, app: AppIndex) -> Instant? {
        let position = position(kind, app)
        guard position < slots.count, slots[position].order != 0 else { return nil }
        return slots[position].instant
    }

    /// Returns the deadlines of an app, in the order of their kinds.
    func saved(_ app: AppIndex) -> [SavedDeadline] {
        let first = app.value * DeadlineKind.count
        guard first < slots.count else { return [] }
        let range = first..<min(first + DeadlineKind.count, slots.count)
        guard range.contains(where: { slots[$0].order != 0 }) else { return [] }
        return DeadlineKind.allCases.compactMap { kind in self[kind, app].map { SavedDeadline(kind, $0) } }
    }

    mutating func set(_ kind: DeadlineKind, _ app: AppIndex, at instant: Instant) {
        let position = position(kind, app)
        while slots.count <= position { slots.append(Slot()) }
        if slots[position].order == 0 { liveCount += 1 }
        lastOrder += 1
        slots[position] = Slot(instant: instant, order: lastOrder)
        heap.insert(Entry(instant: instant, order: lastOrder, app: app, kind: kind))
        dropStale()
    }

    mutating func clear(_ kind: DeadlineKind, _ app: AppIndex) {
        let position = position(kind, app)
        guard position < slots.count, slots[position].order != 0 else { return }
        slots[position].order = 0
        liveCount -= 1
        dropStale()
    }

    mutating func clearAll(_ app: AppIndex) {
        for kind in DeadlineKind.allCases { clear(kind, app) }
    }

    /// Removes the earliest deadline that has come by `now`. Those of the same instant come in the order in which they
    /// were set.
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

    private func isLive(_ entry: Entry) -> Bool { slots[position(entry.kind, entry.app)].order == entry.order }
}
