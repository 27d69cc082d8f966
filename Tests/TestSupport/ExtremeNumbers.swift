/// Numbers at the ends of the types that may hold them, as a damaged file or a hostile program has them.
public enum ExtremeNumbers {
    private static let texts = [
        "0", "1", "-1", "2147483647", "2147483649", "9223372036854775807", "9223372036854775808",
        "18446744073709551615", "ffffffffffffffff", String(repeating: "9", count: 400),
    ]
    private static let numbers: [UInt64] = [0, 1, (1 << 31) - 1, (1 << 31) + 1, (1 << 63) - 1, 1 << 63, .max]

    /// Returns the texts that have such a number in the place of one of theirs.
    public static func damaged(_ text: String) -> [String] {
        var all: [String] = []
        var rest = text[...]
        while let start = rest.firstIndex(where: \.isNumber) {
            let end = rest[start...].firstIndex { !$0.isNumber } ?? rest.endIndex
            all += texts.map { text[..<start] + $0 + text[end...] }
            rest = rest[end...]
        }
        return all
    }

    /// Returns the bytes that have such a number in the place of any eight of theirs.
    public static func damaged(_ bytes: [UInt8]) -> [[UInt8]] {
        bytes.indices.dropLast(7).flatMap { start in
            numbers.map { number in
                var damaged = bytes
                for index in 0..<8 { damaged[start + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
                return damaged
            }
        }
    }
}
