/// A date and a time as a clock shows them. The time may not exist, or may exist twice, where clocks are changed.
struct LocalTime: Hashable {
    var year: Int
    var month = 1
    var day = 1
    var hour = 0
    var minute = 0
    /// Of the minute: seconds and their parts.
    var microsecond = 0

    static let microsecondsOfMinute = 60_000_000
    private static let microsecondsOfDay = 24 * 60 * microsecondsOfMinute

    init(year: Int) {
        self.year = year
    }

    /// The time that is so many microseconds after the beginning of 1970, as if there were no time zones.
    init(count: Int) {
        let (days, rest) = count.flooredDivision(by: Self.microsecondsOfDay)
        // The calendar repeats itself after 400 years, which are counted from a March so that a leap day is the last.
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = 400 * era + yearOfEra + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        hour = rest / (60 * Self.microsecondsOfMinute)
        minute = rest / Self.microsecondsOfMinute % 60
        microsecond = rest % Self.microsecondsOfMinute
    }

    /// The same as a number, see `init(count:)`.
    var count: Int {
        daysSince1970 * Self.microsecondsOfDay + (hour * 60 + minute) * Self.microsecondsOfMinute + microsecond
    }

    /// The next one, a microsecond later.
    var successor: LocalTime { LocalTime(count: count + 1) }

    private var daysSince1970: Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = yearFromMarch.flooredDivision(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// From 0 for Monday to 6 for Sunday; 1970 began with a Thursday.
    var weekday: Int { (daysSince1970 + 3).flooredDivision(by: 7).remainder }

    var daysInMonth: Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

// Each of these goes to where a unit of time begins. The number of the unit may be one too large afterwards.
extension LocalTime {
    mutating func beginYear(_ number: Int) {
        self = LocalTime(year: number)
    }

    mutating func beginMonth(_ number: Int) {
        month = number
        beginDay(1)
    }

    mutating func beginDay(_ number: Int) {
        day = number
        beginHour(0)
    }

    mutating func beginHour(_ number: Int) {
        hour = number
        beginMinute(0)
    }

    mutating func beginMinute(_ number: Int) {
        minute = number
        microsecond = 0
    }
}

extension Int {
    /// Divides so that the remainder is never negative.
    func flooredDivision(by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

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
