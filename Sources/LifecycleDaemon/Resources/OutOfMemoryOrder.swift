import LifecycleCore

/// Gives suspended apps their `oom_score_adj`: the kernel first kills the app that has been suspended for the longest time.
///
/// Each suspended app gets a smaller number than all before it, so that a suspension changes one app alone. When the numbers are used up,
/// the next apps share the lowest, until so many have been woken that it is worth giving all numbers out anew.
struct OutOfMemoryOrder {
    private struct Entry {
        var previous: AppIndex?
        var next: AppIndex?
        var score: Int32
    }

    private let range: ClosedRange<Int>
    private var entries = AppMap<Entry>()
    /// The app that was suspended first, and the app that was suspended last.
    private var first: AppIndex?
    private var last: AppIndex?
    /// The number of apps that were removed since the numbers were given out.
    private var removals = 0

    /// - Parameter lowest: The lowest number of a suspended app, 0 to 999.
    init(lowest: Int) {
        range = min(max(lowest, 0), 999)...1000
    }

    /// The number of an app; nil where it is not suspended.
    subscript(app: AppIndex) -> Int? { entries[app].map { Int($0.score) } }

    /// Makes an app the last that was suspended.
    ///
    /// - Parameter app: An app that has just been suspended.
    /// - Returns: The apps whose numbers have changed, mostly this one.
    mutating func insert(_ app: AppIndex) -> [AppIndex] {
        remove(app)
        let next = last.flatMap { self[$0] }.map { $0 - 1 } ?? range.upperBound
        append(app, score: max(next, range.lowerBound))
        let isUsedUp = next < range.lowerBound
        guard isUsedUp, removals >= max(range.count / 2, 1) else { return [app] }
        let changed = renumber()
        return changed.contains(app) ? changed : changed + [app]
    }

    private mutating func append(_ app: AppIndex, score: Int) {
        if let last { entries.update(last) { $0.next = app } } else { first = app }
        entries[app] = Entry(previous: last, next: nil, score: Int32(score))
        last = app
    }

    /// Takes an app out that is not suspended any more.
    mutating func remove(_ app: AppIndex) {
        guard let entry = entries.removeValue(of: app) else { return }
        removals += 1
        if let previous = entry.previous {
            entries.update(previous) { $0.next = entry.next }
        } else {
            first = entry.next
        }
        if let next = entry.next {
            entries.update(next) { $0.previous = entry.previous }
        } else {
            last = entry.previous
        }
    }

    private mutating func renumber() -> [AppIndex] {
        removals = 0
        var changed: [AppIndex] = []
        var score = range.upperBound
        var next = first
        while let app = next {
            if self[app] != score {
                entries.update(app) { $0.score = Int32(score) }
                changed.append(app)
            }
            score = max(score - 1, range.lowerBound)
            next = entries[app]?.next
        }
        return changed
    }
}

extension OutOfMemoryOrder {
    /// The suspended apps, in the order of their suspension.
    var apps: some Sequence<AppIndex> {
        sequence(state: first) { [entries] next in
            defer { next = next.flatMap { entries[$0]?.next } }
            return next
        }
    }
}
