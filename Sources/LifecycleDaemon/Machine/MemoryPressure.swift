/// How short memory is.
nonisolated struct MemoryPressure: Hashable, Sendable {
    enum Level: Int, Comparable, Sendable {
        case none, warning, critical

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    var level: Level

    /// What it was read from.
    var reading: MemoryReading

    /// How long tasks have waited since the reading before, and how long ago that was.
    var some = Duration.zero
    var full = Duration.zero
    var elapsed = Duration.zero

    /// Waiting is counted in time, so a moment tells nothing of it. Below this only the floor decides.
    static let shortestLook = Duration.milliseconds(100)

    /// Compares two readings.
    init(since earlier: MemoryReading, reading: MemoryReading, thresholds: MemoryThresholds) {
        self.reading = reading
        // The counters of a cgroup that was made anew begin at zero.
        some = max(reading.some.total - earlier.some.total, .zero)
        full = max(reading.full.total - earlier.full.total, .zero)
        elapsed = .microseconds(reading.instant - min(earlier.instant, reading.instant))
        level = .none
        if isReached(thresholds.warning) { level = .warning }
        if isReached(thresholds.critical) { level = hasPlenty(thresholds) ? .warning : .critical }
        if isBelowFloor(thresholds) || isBelowReserve(thresholds) { level = .critical }
    }

    /// The level that it has although the kernel tells of waiting that is enough for another.
    func level(toldOf told: Level, _ thresholds: MemoryThresholds) -> Level {
        if isBelowFloor(thresholds) || isBelowReserve(thresholds) { return .critical }
        return hasPlenty(thresholds) ? min(told, .warning) : told
    }

    private func isReached(_ stall: MemoryThresholds.Stall) -> Bool {
        guard elapsed >= Self.shortestLook else { return false }
        return stall.isReached(by: stall.kind == .some ? some : full, in: elapsed)
    }

    private func hasPlenty(_ thresholds: MemoryThresholds) -> Bool {
        guard let share = thresholds.plenty, let available = reading.available, let total = reading.total else {
            return false
        }
        return Double(available) > share * Double(total)
    }

    private func isBelowFloor(_ thresholds: MemoryThresholds) -> Bool {
        reading.available.map { $0 < thresholds.floor } ?? false
    }

    private func isBelowReserve(_ thresholds: MemoryThresholds) -> Bool {
        guard let available = reading.available, let total = reading.total else { return false }
        return Double(available) + Double(reading.freeSwap ?? 0) < thresholds.reserve * Double(total)
    }
}

nonisolated extension MemoryPressure: CustomStringConvertible {
    /// One phrase for the log: the kernel's average over ten seconds, and what is left.
    var description: String {
        let left = reading.available.map { ", \($0 >> 20) MiB available" } ?? ""
        return "tasks waited for memory \(reading.some.average10) % of the last 10 s"
            + " (all of them \(reading.full.average10) %)" + left
    }
}
