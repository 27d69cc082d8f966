/// Points in time in the form of systemd.time(7), "Calendar Events", as of version 252: `Mon..Fri 06:00`, `*-*-01`, `hourly`.
///
/// They are in local time, or in UTC if that is the last word; other zones and points in time (`@…`) are refused. A year of two digits
/// means 1970 to 2069. There are no events before 1970 and none after 2199.
public struct CalendarEvent: Hashable, Sendable, CustomStringConvertible {
    /// The event as it was written.
    public let description: String

    /// The last year that has events.
    static let lastYear = 2199

    /// A bit for each day, from Monday on.
    var weekdays = Self.everyWeekday
    var year = Values.any
    var month = Values.any
    var day = Values.any
    /// A Boolean value that indicates whether days are counted from the end of the month.
    var countsFromEnd = false
    var hour = Values.one(0)
    var minute = Values.one(0)
    var microsecond = Values.one(0)
    /// A Boolean value that indicates whether its times are in UTC.
    var isUTC = false

    static let everyWeekday: UInt8 = 0b111_1111

    /// Reads an event.
    ///
    /// - Parameter text: The event in the form of systemd.time(7).
    /// - Throws: ``CalendarEventError`` with the place and the expectation.
    public init(_ text: String) throws(CalendarEventError) {
        description = text
        var parser = CalendarEventParser(text)
        try parser.parse(into: &self)
    }
}

extension CalendarEvent {
    /// Returns the first time that an event happens after an instant.
    ///
    /// Where clocks are put forward, the times left out have no events. Where they are put back, a time that comes twice counts once, the
    /// first time, unless the event has any hour (`*`): then it goes on evenly.
    ///
    /// - Parameters:
    ///   - instant: The instant, which is not among the results.
    ///   - rules: The local clocks.
    /// - Returns: The time; nil if the event does not happen any more.
    public func next(after instant: Timestamp, in rules: some TimeZoneRules) -> Timestamp? {
        // What follows adds to it.
        guard instant.microseconds < Int.max / 2 else { return nil }
        let instant = max(instant, Timestamp(microseconds: -1))
        return isUTC ? search(after: instant, in: UTC()) : search(after: instant, in: rules)
    }

    private func search(after instant: Timestamp, in rules: some TimeZoneRules) -> Timestamp? {
        guard let regular = firstInstant(after: instant, from: rules.localTime(of: instant).successor, in: rules) else {
            return nil
        }
        guard hour == .any, let repeated = localTimeWhenPutBack(between: instant, and: regular, in: rules),
            let again = firstInstant(after: instant, from: repeated, in: rules)
        else { return regular }
        return min(regular, again)
    }

    /// Goes through the local times from one on, until one is after the instant.
    private func firstInstant(
        after instant: Timestamp, from start: LocalTime, in rules: some TimeZoneRules
    ) -> Timestamp? {
        var candidate = firstMatch(from: start)
        while let local = candidate {
            switch rules.resolve(local) {
            case .once(let time) where time > instant: return time
            case .twice(let time, _, _) where time > instant: return time
            case .twice(_, let time, _) where time > instant && hour == .any: return time
            case .twice(_, _, let limit) where hour != .any: candidate = firstMatch(from: limit)
            case .never(let resumption): candidate = firstMatch(from: resumption)
            default: candidate = firstMatch(from: local.successor)
            }
        }
        return nil
    }

    /// Returns the local time that the clocks are put back to, if that is between two instants.
    private func localTimeWhenPutBack(
        between earlier: Timestamp, and later: Timestamp, in rules: some TimeZoneRules
    ) -> LocalTime? {
        let first = earlier.microseconds.flooredDivision(by: 1_000_000).quotient
        let last = later.microseconds.flooredDivision(by: 1_000_000).quotient
        let offset = rules.offset(at: last)
        guard offset < rules.offset(at: first) else { return nil }
        let change = rules.firstSecond(withOffset: offset, from: first, to: last)
        return rules.localTime(of: Timestamp(microseconds: change * 1_000_000))
    }
}

// MARK: - Local times

extension CalendarEvent {
    /// Returns the first local time from `start` on that the event describes, existing or not.
    func firstMatch(from start: LocalTime) -> LocalTime? {
        var time = start
        // Each turn begins a later unit of time than the one before, and there are no more than the years have.
        while time.year <= Self.lastYear {
            guard let year = year.first(from: time.year), year <= Self.lastYear else { return nil }
            if year > time.year { time.beginYear(year) }
            if moveToMonth(&time), moveToDay(&time), moveToTimeOfDay(&time) { return time }
        }
        return nil
    }

    /// Moves on to a month that fits; to the next year, and false, where there is none.
    private func moveToMonth(_ time: inout LocalTime) -> Bool {
        guard let month = month.first(from: time.month), month <= 12 else {
            time.beginYear(time.year + 1)
            return false
        }
        if month > time.month { time.beginMonth(month) }
        return true
    }

    /// Moves on to a day that fits; to the next month, and false, where there is none.
    private func moveToDay(_ time: inout LocalTime) -> Bool {
        let last = time.daysInMonth
        let days = countsFromEnd ? day.countedFromEnd(ofMonthWith: last) : day
        while let day = days.first(from: time.day), day <= last {
            if day > time.day { time.beginDay(day) }
            if weekdays & (1 << UInt8(time.weekday)) != 0 { return true }
            time.beginDay(time.day + 1)
        }
        time.beginMonth(time.month + 1)
        return false
    }

    /// Moves on to a time of the day that fits; to the next day, and false, where there is none.
    private func moveToTimeOfDay(_ time: inout LocalTime) -> Bool {
        while let hour = hour.first(from: time.hour), hour < 24 {
            if hour > time.hour { time.beginHour(hour) }
            while let minute = minute.first(from: time.minute), minute < 60 {
                if minute > time.minute { time.beginMinute(minute) }
                if let microsecond = microsecond.first(from: time.microsecond),
                    microsecond < LocalTime.microsecondsOfMinute
                {
                    time.microsecond = microsecond
                    return true
                }
                time.beginMinute(time.minute + 1)
            }
            time.beginHour(time.hour + 1)
        }
        time.beginDay(time.day + 1)
        return false
    }
}

/// A mistake in the text of a calendar event, and its place.
public struct CalendarEventError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The byte of the text, counted from 1; one more than there are for its end.
    public let position: Int

    /// The expectation that the text does not meet, as one clause.
    public let message: String

    /// `expected an hour from 0 to 23 at character 5`.
    public var description: String { "\(message) at character \(position)" }
}

/// Delays of calendar events, so that apps with the same event are not launched at the same time.
public enum Jitter {
    /// Returns a delay that is always the same for the same app and instant, so that it needs no memory, and as good as random otherwise.
    ///
    /// - Parameters:
    ///   - app: The id of the app.
    ///   - instant: The time of the event that is delayed.
    ///   - maximum: The longest delay; more than 366 days count as 366.
    /// - Returns: A delay from zero to the maximum, in whole microseconds.
    public static func delay(for app: String, at instant: Timestamp, upTo maximum: Duration) -> Duration {
        let (seconds, attoseconds) = min(max(maximum, .zero), longest).components
        let limit = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        var hash = fnv(app.utf8, from: 0xcbf2_9ce4_8422_2325)
        hash = fnv((0..<8).map { UInt8(truncatingIfNeeded: instant.microseconds >> ($0 * 8)) }, from: hash)
        return .microseconds(Int64(mix(hash) % (UInt64(limit) + 1)))
    }

    /// More than any schedule needs, and few enough microseconds to count.
    private static let longest = Duration.seconds(366 * 86_400)

    /// Returns an FNV-1a hash, which, unlike Swift's own, is the same in every run.
    private static func fnv(_ bytes: some Sequence<UInt8>, from start: UInt64) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Spreads what the last bytes changed over all bits (the last step of SplitMix64).
    private static func mix(_ hash: UInt64) -> UInt64 {
        var mixed = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
