/// Numbers, Booleans, dates and times, as the specification 1.0.0 of TOML has them.
enum TOMLScalar {
    /// Returns the value of a text; nil if it is none.
    static func node(of text: String) -> TOMLNode? {
        if text == "true" || text == "false" { return .boolean(text == "true") }
        if isMoment(text) { return .moment }
        return number(text)
    }

    /// Returns whether a text is an integer, which may be larger than a value can be.
    static func isInteger(_ text: String) -> Bool {
        for (prefix, radix) in prefixes where text.hasPrefix(prefix) {
            return isDigits(text.dropFirst(2), radix: radix)
        }
        let unsigned = withoutSign(text[...])
        return isDecimal(unsigned) && !unsigned.contains { ".eE".contains($0) }
    }

    private static let prefixes = [("0x", 16), ("0o", 8), ("0b", 2)]

    private static func number(_ text: String) -> TOMLNode? {
        let digits = text.filter { $0 != "_" }
        for (prefix, radix) in prefixes where text.hasPrefix(prefix) {
            guard isDigits(text.dropFirst(2), radix: radix) else { return nil }
            return Int(digits.dropFirst(2), radix: radix).map { .integer($0) }
        }
        let unsigned = withoutSign(text[...])
        if unsigned == "inf" || unsigned == "nan" { return Double(digits).map { .float($0) } }
        guard isDecimal(unsigned) else { return nil }
        return isInteger(text) ? Int(digits).map { .integer($0) } : Double(digits).map { .float($0) }
    }

    private static func isDecimal(_ text: Substring) -> Bool {
        let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "e" || $0 == "E" }
        if parts.count == 2, !isDigits(withoutSign(parts[1]), radix: 10) { return false }
        let mantissa = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        if mantissa.count == 2, !isDigits(mantissa[1], radix: 10) { return false }
        return isDigits(mantissa[0], radix: 10) && (mantissa[0] == "0" || !mantissa[0].hasPrefix("0"))
    }

    /// Returns whether a text is digits, with an underscore between any two of them.
    private static func isDigits(_ text: Substring, radix: Int) -> Bool {
        text.split(separator: "_", omittingEmptySubsequences: false).allSatisfy { group in
            !group.isEmpty && group.allSatisfy { $0.isASCII && ($0.hexDigitValue ?? radix) < radix }
        }
    }

    private static func withoutSign(_ text: Substring) -> Substring {
        text.hasPrefix("+") || text.hasPrefix("-") ? text.dropFirst() : text
    }

    /// Returns whether a text is a date, a time, or both, as RFC 3339 has them, and there is such a day.
    private static func isMoment(_ text: String) -> Bool {
        var rest = text[...]
        guard let date = fields("0000-00-00", from: &rest) else { return takeTime(from: &rest) && rest.isEmpty }
        guard isDay(year: date[0], month: date[1], day: date[2]) else { return false }
        if rest.isEmpty { return true }
        guard ["T", "t", " "].contains(rest.removeFirst()), takeTime(from: &rest) else { return false }
        if ["", "Z", "z"].contains(rest) { return true }
        guard ["+", "-"].contains(rest.removeFirst()), let offset = fields("00:00", from: &rest) else { return false }
        return rest.isEmpty && offset[0] < 24 && offset[1] < 60
    }

    private static func isDay(year: Int, month: Int, day: Int) -> Bool {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && day >= 1 && day <= lengths[month - 1]
    }

    private static func takeTime(from rest: inout Substring) -> Bool {
        // 60 is a leap second.
        guard let time = fields("00:00:00", from: &rest), time[0] < 24, time[1] < 60, time[2] <= 60 else {
            return false
        }
        guard rest.first == "." else { return true }
        let digits = rest.dropFirst().prefix { isDigit($0) }
        rest = rest.dropFirst(1 + digits.count)
        return !digits.isEmpty
    }

    /// Takes the numbers of a shape in which 0 stands for a digit; nil for another shape.
    private static func fields(_ shape: String, from rest: inout Substring) -> [Int]? {
        let text = rest.prefix(shape.count)
        guard text.map({ isDigit($0) ? "0" : $0 }).elementsEqual(shape) else { return nil }
        rest = rest.dropFirst(shape.count)
        return text.split { !isDigit($0) }.compactMap { Int($0) }
    }

    private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}
