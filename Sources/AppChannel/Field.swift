/// One `key=value` of a line, decoded.
public struct Field: Equatable, Sendable {
    /// A lower-case word.
    public let key: String
    /// Any text without NUL.
    public let value: String

    /// A field to send. The key is one of the protocol's words.
    public init(_ key: StaticString, _ value: String) {
        self.init(key: "\(key)", value: value)
    }

    /// A field to send that holds a number, which is not negative.
    public init(_ key: StaticString, _ number: Int64) {
        self.init(key, "\(number)")
    }

    init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

extension [Field] {
    /// The value of the field `key`, or nil when there is none.
    public func value(of key: String) -> String? {
        first { $0.key == key }?.value
    }

    /// The number that the field `key` holds, or nil when there is no such field.
    ///
    /// Throws `LineError.notANumber` when it holds something else.
    public func number(of key: String) throws(LineError) -> Int64? {
        guard let digits = value(of: key) else { return nil }
        guard let number = Self.decimal(digits.utf8) else { throw .notANumber(key: key) }
        return number
    }

    /// The number that the digits stand for; unlike Swift's own conversion, takes no sign.
    private static func decimal(_ digits: String.UTF8View) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = digit else { return nil }
            let (shifted, overflowsByShifting) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsByAdding) = shifted.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !overflowsByShifting, !overflowsByAdding else { return nil }
            number = sum
        }
        return number
    }
}
