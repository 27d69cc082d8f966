@testable import Calendar

/// Timestamps as `YYYY-MM-DD HH:MM:SS`, with or without six decimals.
enum UTCText {
    static func timestamp(_ text: String) -> Timestamp {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        var local = LocalTime(year: numbers[0])
        (local.month, local.day, local.hour, local.minute) = (numbers[1], numbers[2], numbers[3], numbers[4])
        local.microsecond = numbers[5] * 1_000_000 + (numbers.count > 6 ? numbers[6] : 0)
        return Timestamp(microseconds: local.count)
    }

    static func text(_ instant: Timestamp) -> String {
        let local = UTC().localTime(of: instant)
        let date = [padded(local.year, 4), padded(local.month), padded(local.day)].joined(separator: "-")
        let time = [padded(local.hour), padded(local.minute), padded(local.microsecond / 1_000_000)]
        return "\(date) \(time.joined(separator: ":")).\(padded(local.microsecond % 1_000_000, 6))"
    }

    private static func padded(_ number: Int, _ length: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, length - digits.count)) + digits
    }
}

extension String {
    /// With the decimals that ``UTCText/text(_:)`` writes.
    var withFraction: String { contains(".") ? self : self + ".000000" }
}
