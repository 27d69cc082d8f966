import HeapModule
import OrderedCollections

/// What is to happen when a time has come.
enum DeadlineKind: String, Sendable, CaseIterable {
    /// The app should have answered a callback.
    case answer
    /// The app should have given up its place among the active ones.
    case resignation
    /// The time in the background of an app that does not listen is over.
    case background
    /// An app that has to answer the launch callbacks should have done so.
    case launch
    /// An app that lost its channel with a daemon that died should have come back.
    case comeBack = "come-back"
    /// The process of an app whose channel ended should have ended with it.
    case hangUp = "hang-up"
    /// The time for the app's background tasks is over.
    case tasks
    /// The app should have ended its expired tasks.
    case taskExpiration = "task-expiration"
    /// The app should have answered the task that it works on.
    case performTask = "perform-task"
    /// An app for which something waits should listen.
    case hello
    /// The time of an app is over that was woken and could not be told what for.
    case woken
    /// An app that is to end should have heard that its scenes are disconnected.
    case parting
    /// The grace after SIGTERM is over.
    case grace
    /// SIGKILL should have worked by now.
    case killed
    /// The app is started again, or the home app may be.
    case restart
}

/// The deadlines of all apps: one of each kind an app, the earliest at hand.
///
/// The heap keeps entries that were cleared or replaced until they come up or outnumber the others; the dictionary is
/// the truth.
struct Deadlines: Sendable {
    struct Key: Hashable, Sendable {
        let app: AppID
        let kind: DeadlineKind
    }

    private struct Entry: Comparable, Sendable {
        let instant: Instant
        let order: UInt64
        let key: Key

        static func < (left: Entry, right: Entry) -> Bool {
            (left.instant, left.order) < (right.instant, right.order)
        }

        static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
    }

    private var live: [Key: (instant: Instant, order: UInt64)] = [:]
    private var heap = Heap<Entry>()
    private var lastOrder: UInt64 = 0
    private var touched: OrderedSet<AppID> = []

    /// How many entries there are, with those that were cleared or replaced.
    var entryCount: Int { heap.count }

    /// The earliest deadline there is.
    var earliest: Instant? { heap.min?.instant }

    func instant(_ kind: DeadlineKind, _ app: AppID) -> Instant? {
        live[Key(app: app, kind: kind)]?.instant
    }

    mutating func set(_ kind: DeadlineKind, _ app: AppID, at instant: Instant) {
        touched.append(app)
        lastOrder += 1
        let key = Key(app: app, kind: kind)
        live[key] = (instant, lastOrder)
        heap.insert(Entry(instant: instant, order: lastOrder, key: key))
        dropStale()
    }

    mutating func clear(_ kind: DeadlineKind, _ app: AppID) {
        guard live.removeValue(forKey: Key(app: app, kind: kind)) != nil else { return }
        touched.append(app)
        dropStale()
    }

    mutating func clearAll(_ app: AppID) {
        for kind in DeadlineKind.allCases { clear(kind, app) }
    }

    /// Takes the earliest deadline that has come by `now`. Those of the same instant come in the order they were set.
    mutating func popDue(_ now: Instant) -> Key? {
        guard let entry = heap.min, entry.instant <= now else { return nil }
        touched.append(entry.key.app)
        live[entry.key] = nil
        dropStale()
        return entry.key
    }

    /// The apps whose deadlines have changed since the last call.
    mutating func takeTouched() -> OrderedSet<AppID> {
        defer { touched.removeAll(keepingCapacity: true) }
        return touched
    }

    /// Keeps the earliest entry a live one, and the heap in proportion to what is live.
    private mutating func dropStale() {
        while let entry = heap.min, !isLive(entry) { heap.removeMin() }
        if heap.count > 2 * live.count + 64 { heap = Heap(heap.unordered.filter(isLive)) }
    }

    private func isLive(_ entry: Entry) -> Bool { live[entry.key]?.order == entry.order }
}
