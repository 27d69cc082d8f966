import HeapModule

/// The deadlines of an app, at most one of each kind.
///
/// A deadline is an instant, it is saved as one, and a restart of the daemon does not move it. What a restart changes is when
/// the daemon acts upon it:
///
/// | after a restart | kinds |
/// |---|---|
/// | as without it | `killed`, `restart` |
/// | at the earliest when the daemon has read what the app said meanwhile: ``AppMachine/readingTime`` | all others |
/// | while the app is to reconnect, at the earliest when its time for that is over | `answer`, `launch`, `performTask`, `taskExpiration` |
///
/// One of them begins anew, since the app can reconnect only from then on: `reconnection`. And what the app has not received is sent
/// anew, so that its answer has the whole time: `answer` but for launch callbacks that end with `launch`, `resignation`, `performTask`,
/// and `taskExpiration` if the app was not told.
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
    private struct Deadline: Sendable {
        let kind: DeadlineKind
        /// The instant that was set, which is saved.
        let end: Instant
        /// The instant at which it is acted upon; later than `end` if it was postponed.
        var due: Instant
        var order: UInt64
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

    private var deadlines: [AppIndex: [Deadline]] = [:]
    private var liveCount = 0
    private var heap = Heap<Entry>()
    private var lastOrder: UInt64 = 0

    /// The number of entries, those that were cleared or replaced included.
    var entryCount: Int { heap.count }

    /// The earliest deadline.
    var earliest: Instant? { heap.min?.instant }

    private func find(_ kind: DeadlineKind, _ app: AppIndex) -> Deadline? {
        deadlines[app]?.first { $0.kind == kind }
    }

    /// The instant at which a deadline is acted upon.
    subscript(kind: DeadlineKind, app: AppIndex) -> Instant? { find(kind, app)?.due }

    /// Returns the deadlines of an app as they were set, in the order of their kinds.
    func saved(_ app: AppIndex) -> [SavedDeadline] {
        DeadlineKind.allCases.compactMap { kind in
            find(kind, app).map { SavedDeadline(kind: kind, instant: $0.end) }
        }
    }

    mutating func set(_ kind: DeadlineKind, _ app: AppIndex, at instant: Instant) {
        insert(kind, app, end: instant, due: instant)
    }

    /// Sets a deadline, which is acted upon after all that are due at the same instant.
    private mutating func insert(_ kind: DeadlineKind, _ app: AppIndex, end: Instant, due: Instant) {
        clear(kind, app)
        lastOrder += 1
        deadlines[app, default: []].append(Deadline(kind: kind, end: end, due: due, order: lastOrder))
        liveCount += 1
        heap.insert(Entry(instant: due, order: lastOrder, app: app, kind: kind))
        dropStale()
    }

    mutating func clear(_ kind: DeadlineKind, _ app: AppIndex) {
        guard let position = deadlines[app]?.firstIndex(where: { $0.kind == kind }) else { return }
        deadlines[app]?.remove(at: position)
        if deadlines[app]?.isEmpty ?? false { deadlines[app] = nil }
        liveCount -= 1
        dropStale()
    }

    /// Lets those of the deadlines that are due earlier be acted upon at this instant, after those that are due then already.
    ///
    /// - Parameter again: False to leave those that were postponed before as they are.
    mutating func postpone(_ kinds: [DeadlineKind], _ app: AppIndex, to instant: Instant, again: Bool = true) {
        for kind in kinds {
            if let deadline = find(kind, app), deadline.due <= instant, again || deadline.due == deadline.end {
                insert(kind, app, end: deadline.end, due: instant)
            }
        }
    }

    /// Ends the postponement of all deadlines of an app: those that have passed are acted upon at this instant.
    mutating func endPostponement(_ app: AppIndex, notBefore instant: Instant) {
        for kind in DeadlineKind.allCases {
            guard let deadline = find(kind, app), deadline.due > deadline.end else { continue }
            insert(kind, app, end: deadline.end, due: max(deadline.end, instant))
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

    private func isLive(_ entry: Entry) -> Bool { find(entry.kind, entry.app)?.order == entry.order }
}
