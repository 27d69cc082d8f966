package import LifecycleCore

/// The events on their way: to the daemon, or to an app.
package enum Event: Sendable {
    /// The kernel has something to tell the daemon about one launch of an app.
    case notice(AppID, Outcome, launch: Int)
    /// A line of an app arrives at the daemon.
    case line(AppID, AppMessage, launch: Int)
    /// The app is done with the first thing that it was told.
    case turn(AppID, launch: Int)
    /// The app is done with its task.
    case taskDone(AppID, UInt64, launch: Int)
    /// An app that lost its channel tries to come back.
    case comeBack(AppID, launch: Int)
    /// An app that was an adopted program is what its manifest says.
    case describedAgain(AppID)
    /// The machine says how short memory is.
    case look(MemoryLevel)

    /// The app that it is about, and which of its launches.
    package var launch: (app: AppID, number: Int)? {
        switch self {
        case .notice(let id, _, let number), .line(let id, _, let number), .turn(let id, let number),
            .taskDone(let id, _, let number), .comeBack(let id, let number):
            (id, number)
        case .describedAgain, .look: nil
        }
    }
}

/// Events in the order of their time; those of the same time in the order in which they were added.
package struct EventQueue: Sendable {
    package struct Entry: Sendable {
        package let time: Instant
        package let event: Event
    }

    /// The latest first, so that taking the next one moves nothing.
    private var entries: [Entry] = []

    package var isEmpty: Bool { entries.isEmpty }
    package var next: Entry? { entries.last }
    package var count: Int { entries.count }

    /// The entries, the earliest first.
    package var ordered: [Entry] { entries.reversed() }

    package mutating func add(_ event: Event, at time: Instant) {
        var index = entries.count
        while index > 0, entries[index - 1].time <= time { index -= 1 }
        entries.insert(Entry(time: time, event: event), at: index)
    }

    package mutating func takeNext() -> Entry? { entries.popLast() }

    /// Takes the entry at this place of ``ordered``.
    package mutating func take(at place: Int) -> Entry { entries.remove(at: entries.count - 1 - place) }

    package mutating func removeAll(where matches: (Event) -> Bool) { entries.removeAll { matches($0.event) } }
}
