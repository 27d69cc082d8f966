/// Gives suspended apps their `oom_score_adj`, so that the kernel, when it has to kill, begins with the app that has
/// been suspended for the longest time.
///
/// Each app that is suspended gets a smaller number than all before it, so that a suspension changes one app alone. When the
/// numbers are used up, those that are suspended next share the lowest, until so many apps have been woken that it is worth
/// giving all numbers out anew. So a suspension or a wake costs the same however many apps are suspended.
nonisolated struct OutOfMemoryOrder<App: Hashable> {
    private struct Place {
        var previous: App?
        var next: App?
        var score: Int
    }

    private let range: ClosedRange<Int>
    private var places: [App: Place] = [:]
    /// The app that was suspended first, and the app that was suspended last.
    private var first: App?
    private var last: App?
    /// The number of apps that were removed since the numbers were given out.
    private var removals = 0

    /// - Parameter lowest: The lowest number of a suspended app, 0 to 999.
    init(lowest: Int) {
        range = min(max(lowest, 0), 999)...1000
    }

    /// The number of an app; nil where it is not suspended.
    subscript(app: App) -> Int? { places[app]?.score }

    /// Makes an app the last that was suspended.
    ///
    /// - Parameter app: An app that has just been suspended.
    /// - Returns: The numbers that have changed, mostly one.
    mutating func insert(_ app: App) -> [App: Int] {
        remove(app)
        let next = last.flatMap { places[$0]?.score }.map { $0 - 1 } ?? range.upperBound
        let score = max(next, range.lowerBound)
        append(app, score: score)
        let isUsedUp = next < range.lowerBound
        guard isUsedUp, removals >= max(range.count / 2, 1) else { return [app: score] }
        return renumber().merging([app: places[app]?.score ?? score]) { $1 }
    }

    private mutating func append(_ app: App, score: Int) {
        if let last { places[last]?.next = app } else { first = app }
        places[app] = Place(previous: last, next: nil, score: score)
        last = app
    }

    /// Takes an app out that is not suspended any more.
    mutating func remove(_ app: App) {
        guard let place = places.removeValue(forKey: app) else { return }
        removals += 1
        if let previous = place.previous { places[previous]?.next = place.next } else { first = place.next }
        if let next = place.next { places[next]?.previous = place.previous } else { last = place.previous }
    }

    private mutating func renumber() -> [App: Int] {
        removals = 0
        var changed: [App: Int] = [:]
        var score = range.upperBound
        var next = first
        while let app = next {
            if places[app]?.score != score {
                places[app]?.score = score
                changed[app] = score
            }
            score = max(score - 1, range.lowerBound)
            next = places[app]?.next
        }
        return changed
    }
}
