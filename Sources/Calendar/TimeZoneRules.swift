/// The rules of the clocks of a place.
///
/// On Linux, localtime_r(3) knows it of the machine's own place: `tm_gmtoff`, after tzset(3).
public protocol TimeZoneRules {
    /// Returns the number of seconds that the clocks are ahead of UTC.
    ///
    /// - Parameter second: The point in time, in seconds since the beginning of 1970, UTC.
    func offset(at second: Int) -> Int
}

/// Clocks that show UTC.
public struct UTC: TimeZoneRules, Sendable {
    /// The only ones of their kind.
    public init() {}

    /// Always 0.
    public func offset(at second: Int) -> Int { 0 }
}

/// The instants of a local time. Clocks may be changed at most once in two days.
enum LocalResolution: Equatable {
    case once(Timestamp)

    /// The clocks were put back, so that local times before a limit come twice.
    case twice(Timestamp, Timestamp, before: LocalTime)

    /// The clocks were put forward meanwhile, to this local time.
    case never(resumesAt: LocalTime)
}

extension TimeZoneRules {
    private static var microsecondsOfSecond: Int { 1_000_000 }

    func localTime(of instant: Timestamp) -> LocalTime {
        let second = instant.microseconds.flooredDivision(by: Self.microsecondsOfSecond).quotient
        return LocalTime(count: instant.microseconds + offset(at: second) * Self.microsecondsOfSecond)
    }

    func resolve(_ local: LocalTime) -> LocalResolution {
        let (second, part) = local.count.flooredDivision(by: Self.microsecondsOfSecond)
        let day = 86_400
        let before = offset(at: second - day)
        let after = offset(at: second + day)
        func instant(_ offset: Int) -> Timestamp {
            Timestamp(microseconds: (second - offset) * Self.microsecondsOfSecond + part)
        }
        let isBefore = offset(at: second - before) == before
        let isAfter = offset(at: second - after) == after
        if before == after || isBefore != isAfter { return .once(instant(isBefore ? before : after)) }
        let (earlier, later) = (min(second - before, second - after), max(second - before, second - after))
        let change = firstSecond(withOffset: after, from: earlier, to: later)
        let resumption = LocalTime(count: (change + max(before, after)) * Self.microsecondsOfSecond)
        return isBefore
            ? .twice(instant(before), instant(after), before: resumption) : .never(resumesAt: resumption)
    }

    /// Returns the second at which the clocks are changed, known that it is between two seconds.
    func firstSecond(withOffset offset: Int, from earlier: Int, to later: Int) -> Int {
        var (earlier, later) = (earlier, later)
        while earlier < later {
            let middle = earlier + (later - earlier) / 2
            if self.offset(at: middle) == offset { later = middle } else { earlier = middle + 1 }
        }
        return later
    }
}

/// A point in time, which is the same everywhere.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Microseconds since the beginning of 1970, UTC, without leap seconds, as CLOCK_REALTIME counts.
    public var microseconds: Int

    /// A point so many microseconds after the beginning of 1970.
    public init(microseconds: Int) {
        self.microseconds = microseconds
    }

    /// Returns whether one is before another.
    ///
    /// - Parameters:
    ///   - left: A point in time.
    ///   - right: The point in time to compare with.
    /// - Returns: True if the left one is earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}
