/// The name of one launch, which no other launch has.
public struct LaunchToken: Hashable, Sendable, CustomStringConvertible {
    private let first: UInt64
    private let second: UInt64

    private init(first: UInt64, second: UInt64) {
        (self.first, self.second) = (first, second)
    }

    /// Returns a token that no other launch has.
    public static func random() -> LaunchToken {
        LaunchToken(first: .random(in: .min ... .max), second: .random(in: .min ... .max))
    }

    /// Reads a token; nil for a text that is not the value of one.
    public init?(rawValue: String) {
        var bytes = rawValue.utf8.makeIterator()
        guard let first = Self.number(&bytes, until: UInt8(ascii: "-")), let second = Self.number(&bytes, until: nil)
        else { return nil }
        self.init(first: first, second: second)
    }

    /// Reads a number as ``rawValue`` writes it, and the byte after it.
    private static func number(_ bytes: inout String.UTF8View.Iterator, until end: UInt8?) -> UInt64? {
        var (number, count): (UInt64, Int) = (0, 0)
        while let digit = bytes.next() {
            guard digit != end else { return count > 0 ? number : nil }
            guard count < 16, number > 0 || count == 0, let value = value(ofDigit: digit) else { return nil }
            number = number << 4 | value
            count += 1
        }
        return end == nil && count > 0 ? number : nil
    }

    private static func value(ofDigit byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        default: nil
        }
    }

    /// The text that ``init(rawValue:)`` reads.
    public var rawValue: String { String(first, radix: 16) + "-" + String(second, radix: 16) }

    /// The same text.
    public var description: String { rawValue }
}
