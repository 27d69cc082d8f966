import LifecycleCore
import OrderedCollections

/// Gives suspended apps their `oom_score_adj`: the kernel first kills the app that has been suspended for the longest time.
///
/// Each suspended app gets a smaller number than all before it, so that a suspension changes one app alone. When the numbers are used up,
/// the next apps share the lowest, until so many have been woken that it is worth giving all numbers out anew.
struct OutOfMemoryOrder {
    private let range: ClosedRange<Int>
    /// The numbers, in the order of the suspensions.
    private var scores: OrderedDictionary<AppIndex, Int> = [:]
    /// The number of apps that were removed since the numbers were given out.
    private var removals = 0

    /// - Parameter lowest: The lowest number of a suspended app, 0 to 999.
    init(lowest: Int) {
        range = min(max(lowest, 0), 999)...1000
    }

    /// The number of an app; nil where it is not suspended.
    subscript(app: AppIndex) -> Int? { scores[app] }

    /// Makes an app the last that was suspended.
    ///
    /// - Parameter app: An app that has just been suspended.
    /// - Returns: The apps whose numbers have changed, mostly this one.
    mutating func insert(_ app: AppIndex) -> [AppIndex] {
        remove(app)
        let next = scores.values.last.map { $0 - 1 } ?? range.upperBound
        scores[app] = max(next, range.lowerBound)
        let isUsedUp = next < range.lowerBound
        guard isUsedUp, removals >= max(range.count / 2, 1) else { return [app] }
        let changed = renumber()
        return changed.contains(app) ? changed : changed + [app]
    }

    /// Takes an app out that is not suspended any more.
    mutating func remove(_ app: AppIndex) {
        if scores.removeValue(forKey: app) != nil { removals += 1 }
    }

    private mutating func renumber() -> [AppIndex] {
        removals = 0
        var changed: [AppIndex] = []
        for (position, app) in scores.keys.enumerated() {
            let score = max(range.upperBound - position, range.lowerBound)
            guard scores[app] != score else { continue }
            scores[app] = score
            changed.append(app)
        }
        return changed
    }

    /// The suspended apps, in the order of their suspension.
    var apps: some Sequence<AppIndex> { scores.keys }
}
