import Glibc

/// A point in time on the command line: a date, a time of day, or a duration before now.
struct TimeArgument: Equatable {
    enum Meaning: Equatable {
        /// Microseconds before now.
        case ago(Int64)
        /// Microseconds since the epoch.
        case at(Int64)
        /// A local date and time; without a date, the last such time of day.
        case local(year: Int32?, month: Int32, day: Int32, seconds: Int32)
        /// The start of a day, in days before today.
        case day(before: Int32)
    }

    let meaning: Meaning

    /// Reads a word of the command line; nil if it is no time, or none from 1970 to 9999.
    init?(argument: String, now: Int64 = Instants.now) {
        guard let meaning = Self.meaning(of: argument) else { return nil }
        self.meaning = meaning
        guard Instants.range.contains(microseconds(now: now)) else { return nil }
    }

    /// The values of the option.
    static let words =
        "a time (12:30, 2026-11-22, \"2026-11-22 12:30:00\", today) or how long ago (10min, 2h, 1d)"

    /// Returns the time in microseconds since the epoch.
    func microseconds(now: Int64) -> Int64 {
        switch meaning {
        case .ago(let time): return now &- time
        case .at(let time): return time
        case .day(let before): return Self.local(now, date: nil, daysBefore: before, seconds: 0)
        case .local(let year, let month, let day, let seconds):
            let date = year.map { ($0, month, day) }
            let time = Self.local(now, date: date, daysBefore: 0, seconds: seconds)
            return year == nil && time > now ? Self.local(now, date: nil, daysBefore: 1, seconds: seconds) : time
        }
    }

    /// Returns a local date, or the date some days before now, and a time of day, in microseconds since the epoch.
    private static func local(
        _ now: Int64, date: (year: Int32, month: Int32, day: Int32)?, daysBefore: Int32, seconds: Int32
    ) -> Int64 {
        var epoch = time_t(now / 1_000_000)
        var parts = unsafe tm()
        unsafe localtime_r(&epoch, &parts)
        if let date {
            unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (date.year - 1900, date.month - 1, date.day)
        }
        unsafe parts.tm_mday -= daysBefore
        unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        unsafe parts.tm_isdst = -1
        // East of Greenwich, the first hours of 1970 are before the epoch.
        return max(0, Int64(unsafe mktime(&parts)) * 1_000_000)
    }

    // MARK: Reading

    /// Returns seconds in microseconds; nil for more than there are until the end of the year 9999.
    private static func checkedMicroseconds(_ seconds: Int64) -> Int64? {
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return !isTooLong && Instants.range.contains(product) ? product : nil
    }

    private static func meaning(of argument: String) -> Meaning? {
        switch argument {
        case "today": return .day(before: 0)
        case "yesterday": return .day(before: 1)
        case "now": return .ago(0)
        default: break
        }
        if argument.hasPrefix("@") { return Int64(argument.dropFirst()).flatMap(checkedMicroseconds).map { .at($0) } }
        return ago(argument) ?? local(argument)
    }

    private static let units: [(names: [String], seconds: Int64)] = [
        (["s", "sec", "second", "seconds"], 1), (["m", "min", "minute", "minutes"], 60),
        (["h", "hr", "hour", "hours"], 3600), (["d", "day", "days"], 86400), (["w", "week", "weeks"], 604_800),
    ]

    /// `10min`, `1h30min`, `2 days`, with or without a minus before it or "ago" after it.
    private static func ago(_ argument: String) -> Meaning? {
        var rest = argument[...]
        if rest.hasPrefix("-") { rest.removeFirst() }
        if rest.hasSuffix("ago") { rest.removeLast(3) }
        var total: Int64 = 0
        var count = 0
        while !rest.allSatisfy({ $0 == " " }) {
            rest = rest.drop { $0 == " " }
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest[digits.endIndex...].drop { $0 == " " }
            let name = rest.prefix { ("a"..."z").contains($0) }
            rest = rest[name.endIndex...]
            guard let number = Int64(digits), number <= 1_000_000,
                let unit = units.first(where: { $0.names.contains(String(name)) })
            else { return nil }
            total += number * unit.seconds
            count += 1
            guard checkedMicroseconds(total) != nil else { return nil }
        }
        return count == 0 ? nil : checkedMicroseconds(total).map { .ago($0) }
    }

    /// `12:30`, `12:30:05`, `2026-11-22`, `2026-11-22 12:30`; a T may stand between the two.
    private static func local(_ argument: String) -> Meaning? {
        let parts = argument.split(separator: argument.contains { $0 == "T" } ? "T" : " ")
        guard (1...2).contains(parts.count), let first = parts.first, let last = parts.last else { return nil }
        let date = numbers(first, "-", [1970...9999, 1...12, 1...31])
        if let date, date[2] > days(inMonth: date[1], of: date[0]) { return nil }
        if parts.count == 1, let date {
            return .local(year: date[0], month: date[1], day: date[2], seconds: 0)
        }
        let clock = numbers(last, ":", [0...23, 0...59, 0...59]) ?? numbers(last, ":", [0...23, 0...59])
        guard let clock, parts.count == 1 || date != nil else { return nil }
        let seconds = clock[0] * 3600 + clock[1] * 60 + (clock.count > 2 ? clock[2] : 0)
        return .local(year: date?[0], month: date?[1] ?? 1, day: date?[2] ?? 1, seconds: seconds)
    }

    private static func days(inMonth month: Int32, of year: Int32) -> Int32 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the numbers between separators; nil unless each is in its range.
    private static func numbers(
        _ text: Substring, _ separator: Character, _ ranges: [ClosedRange<Int32>]
    ) -> [Int32]? {
        let numbers = text.split(separator: separator, omittingEmptySubsequences: false).map { Int32($0) ?? -1 }
        return numbers.count == ranges.count && zip(ranges, numbers).allSatisfy { $0.contains($1) } ? numbers : nil
    }
}
