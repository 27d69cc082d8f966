/// A value of a TOML text, as a value of Swift.
enum TOMLNode: Equatable, Sendable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)

    /// A date, a time, or both; none of our keys takes one.
    case moment
    case array([TOMLNode])
    case table([String: TOMLNode])

    /// The value in a user's words.
    var summary: String {
        switch self {
        case .string(let text): text.quoted
        case .integer(let number): "the integer \(number)"
        case .float(let number): "the number \(number)"
        case .boolean(let value): "\(value)"
        case .moment: "a date or a time"
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
        case .table: "a table"
        }
    }
}

extension String {
    /// The text in quotation marks, shortened, with nothing in it that could drive a terminal.
    var quoted: String {
        let longest = 60
        var text = ""
        for scalar in unicodeScalars.prefix(longest) {
            let isControl =
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
            if isControl || scalar == "\"" || scalar == "\\" {
                text += scalar.escaped(asASCII: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > longest ? "\"\(text)…\"" : "\"\(text)\""
    }
}

/// The grammar of TOML's numbers, booleans, dates and times, as the specification 1.0.0 has it.
enum TOMLScalar {
    /// Returns whether a text has the form of such a value. Whether there is such a day, or such a large number, is not
    /// its form.
    static func isWellFormed(_ text: String) -> Bool {
        text == "true" || text == "false" || isNumber(text) || isMoment(text)
    }

    private static func isNumber(_ text: String) -> Bool {
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
            return isDigits(text.dropFirst(2), radix: radix)
        }
        let unsigned = withoutSign(text[...])
        return unsigned == "inf" || unsigned == "nan" || isDecimal(unsigned)
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

    private static func isMoment(_ text: String) -> Bool {
        var shape = String(text.map { ("0"..."9").contains($0) ? "0" : $0 })[...]
        guard consume("0000-00-00", from: &shape) else { return consumeTime(from: &shape) && shape.isEmpty }
        if shape.isEmpty { return true }
        guard ["T", "t", " "].contains(shape.removeFirst()), consumeTime(from: &shape) else { return false }
        return ["", "Z", "z", "+00:00", "-00:00"].contains(shape)
    }

    private static func consumeTime(from shape: inout Substring) -> Bool {
        guard consume("00:00:00", from: &shape) else { return false }
        guard consume(".", from: &shape) else { return true }
        let rest = shape.drop { $0 == "0" }
        defer { shape = rest }
        return rest.count < shape.count
    }

    private static func consume(_ prefix: String, from shape: inout Substring) -> Bool {
        guard shape.hasPrefix(prefix) else { return false }
        shape.removeFirst(prefix.count)
        return true
    }
}
