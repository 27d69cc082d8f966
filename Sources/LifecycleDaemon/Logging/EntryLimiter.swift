import LifecycleCore

/// The client or app that causes a journal entry.
nonisolated enum EntryCause: Hashable {
    case user(UInt32)
    case app(AppID)
    /// All apps of a user, and what the user does with them.
    case apps(of: UInt32)
    /// All causes beyond the number that is told apart.
    case others
}

/// Limits the journal entries that one user or app can cause, so that they cannot displace the entries of others.
///
/// A cause may have `burst` entries within an `interval`, the apps of a user `burstOfApps`, and `byteLimit` bytes of them. The limiter
/// counts the entries that it leaves out; the count is due when the interval of the cause ends.
nonisolated struct EntryLimiter {
    static let burst = 32
    static let burstOfApps = 512
    static let byteLimit = 128 << 10
    static let interval: UInt64 = 30_000_000
    static let causeLimit = 4096

    private struct Interval {
        let end: UInt64
        var written = 0
        var bytes = 0
        var suppressed = 0
    }

    private var intervals: [EntryCause: Interval] = [:]

    /// Counts an entry of the cause.
    ///
    /// - Parameters:
    ///   - size: The size of the entry, in bytes.
    ///   - now: The time in microseconds, of a clock that does not go back.
    /// - Returns: Whether the entry may be written.
    mutating func admits(_ cause: EntryCause, size: Int, at now: UInt64) -> Bool {
        if intervals.count >= Self.causeLimit, intervals[cause] == nil { forgetQuietIntervals(at: now) }
        let isKnown = intervals[cause] != nil || intervals.count < Self.causeLimit
        return count(isKnown ? cause : .others, size: size, at: now)
    }

    private mutating func count(_ cause: EntryCause, size: Int, at now: UInt64) -> Bool {
        var interval = intervals[cause] ?? Interval(end: now + Self.interval)
        if interval.end <= now, interval.suppressed == 0 { interval = Interval(end: now + Self.interval) }
        defer { intervals[cause] = interval }
        let burst = if case .apps = cause { Self.burstOfApps } else { Self.burst }
        guard interval.written < burst, interval.bytes + size <= Self.byteLimit else {
            interval.suppressed += 1
            return false
        }
        interval.written += 1
        interval.bytes += size
        return true
    }

    /// The end of the earliest interval in which entries were left out, in microseconds; nil if there is none.
    var nextReport: UInt64? { intervals.values.filter { $0.suppressed > 0 }.map(\.end).min() }

    /// Takes the number of entries that were left out for each cause whose interval has ended.
    mutating func takeSuppressed(at now: UInt64) -> [(cause: EntryCause, count: Int)] {
        let ended = intervals.filter { $0.value.suppressed > 0 && $0.value.end <= now }
        for cause in ended.keys { intervals[cause] = nil }
        return ended.map { ($0.key, $0.value.suppressed) }
    }

    private mutating func forgetQuietIntervals(at now: UInt64) {
        intervals = intervals.filter { $0.value.suppressed > 0 || $0.value.end > now }
    }
}

extension EntryCause {
    var words: String {
        switch self {
        case .user(let user): "user \(user)"
        case .app(let app): app.name
        case .apps(let user): "the apps of user \(user)"
        case .others: "others"
        }
    }
}
