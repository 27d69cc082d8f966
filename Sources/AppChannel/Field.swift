/// One `key=value` of a line, decoded.
public struct Field: Equatable, Sendable {
    /// A lower-case word.
    public let key: String
    /// Any text without NUL.
    public let value: String

    /// Creates a field to send.
    ///
    /// - Parameters:
    ///   - key: A word of the protocol.
    ///   - value: Any text without NUL.
    public init(_ key: StaticString, _ value: String) {
        self.init(key: "\(key)", value: value)
    }

    /// Creates a field to send that holds a number.
    ///
    /// - Parameters:
    ///   - key: A word of the protocol.
    ///   - number: A number from 0 to 2^63 - 1.
    public init(_ key: StaticString, _ number: Int64) {
        self.init(key, "\(number)")
    }

    init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

extension [Field] {
    /// Returns the value of a field; nil if there is no such field.
    public func value(of key: String) -> String? {
        first { $0.key == key }?.value
    }

    /// Returns the number of a field; nil if there is no such field.
    ///
    /// - Throws: `LineError.notANumber` if the value is no number.
    public func number(of key: String) throws(LineError) -> Int64? {
        guard let digits = value(of: key) else { return nil }
        guard let number = Self.decimal(digits.utf8) else { throw .notANumber(key: key) }
        return number
    }

    /// Returns the number that the digits stand for; unlike Swift's own conversion, takes no sign.
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

extension [Field] {
    func required(_ key: String) throws(LineError) -> String {
        guard let value = value(of: key) else { throw .missingField(key: key) }
        return value
    }

    func requiredNumber(_ key: String) throws(LineError) -> Int64 {
        guard let number = try number(of: key) else { throw .missingField(key: key) }
        return number
    }

    func requiredAssertionID() throws(LineError) -> AssertionID {
        AssertionID(rawValue: try requiredNumber("id"))
    }
}

/// The encoding of a field's value: the protocol's unreserved bytes stand for themselves, all others are `%XX`.
enum PercentCoding {
    private static let percent = UInt8(ascii: "%")

    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"),
            UInt8(ascii: ":"), UInt8(ascii: ","), UInt8(ascii: "+"), UInt8(ascii: "@"):
            true
        default:
            false
        }
    }

    static func encode(_ text: String, into bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(percent)
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 0xF))
            }
        }
    }

    /// Returns the bytes of an encoded value; nil for a value that does not follow the grammar.
    static func decode(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(encoded.count)
        var index = encoded.startIndex
        while index < encoded.endIndex {
            let byte = encoded[index]
            if isUnreserved(byte) {
                decoded.append(byte)
                index += 1
            } else {
                guard byte == percent, encoded.endIndex - index >= 3,
                    let high = hexValue(encoded[index + 1]), let low = hexValue(encoded[index + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                index += 3
            }
        }
        return decoded
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
