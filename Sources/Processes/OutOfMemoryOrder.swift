/// Gives suspended apps their `oom_score_adj`, so that the kernel, when it has to kill, begins with the one that has been
/// suspended for the longest time.
///
/// Each app that is suspended gets a smaller number than all before it, so that a suspension changes one app alone; only
/// when the numbers are used up are all given out anew.
public struct OutOfMemoryOrder<App: Hashable> {
    private let range: ClosedRange<Int>
    /// From the one that was suspended first to the one that was last.
    private var apps: [App] = []
    private var scores: [App: Int] = [:]

    /// - Parameter lowest: What no suspended app gets less than, 0 to 999.
    public init(lowest: Int) {
        range = min(max(lowest, 0), 999)...1000
    }

    /// The number of an app; nil where it is not suspended.
    public subscript(app: App) -> Int? { scores[app] }

    /// Makes an app the one that was suspended last.
    ///
    /// - Returns: The numbers that have changed, mostly one.
    public mutating func insert(_ app: App) -> [App: Int] {
        remove(app)
        let next = apps.last.flatMap { scores[$0] }.map { $0 - 1 } ?? range.upperBound
        apps.append(app)
        if range.contains(next) {
            scores[app] = next
            return [app: next]
        }
        return renumber()
    }

    /// Takes an app out that is not suspended any more.
    public mutating func remove(_ app: App) {
        guard scores.removeValue(forKey: app) != nil else { return }
        apps.removeAll { $0 == app }
    }

    /// With more apps than numbers, those that were suspended last share the lowest.
    private mutating func renumber() -> [App: Int] {
        var changed: [App: Int] = [:]
        for (place, app) in apps.enumerated() {
            let score = max(range.upperBound - place, range.lowerBound)
            if scores.updateValue(score, forKey: app) != score { changed[app] = score }
        }
        return changed
    }
}
