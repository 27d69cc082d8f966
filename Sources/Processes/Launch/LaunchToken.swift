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

    /// Reads a token; nil for a text that ``rawValue`` does not write.
    public init?(rawValue: String) {
        let numbers = rawValue.split(separator: "-").compactMap { UInt64($0, radix: 16) }
        guard numbers.count == 2 else { return nil }
        self.init(first: numbers[0], second: numbers[1])
        guard self.rawValue == rawValue else { return nil }
    }

    /// Two numbers in hexadecimal.
    public var rawValue: String { String(first, radix: 16) + "-" + String(second, radix: 16) }

    /// The same text.
    public var description: String { rawValue }
}
