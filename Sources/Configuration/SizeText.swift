/// Amounts of memory as people write them: `512K`, `64M`, `1G`, `1.5G`, `64MiB`, `4096`.
enum SizeText {
    /// How many bits each unit shifts: they go up by 1024, as in systemd's files.
    private static let units: [Substring: Int] = [
        "": 0, "B": 0, "K": 10, "KiB": 10, "M": 20, "MiB": 20, "G": 30, "GiB": 30, "T": 40, "TiB": 40,
    ]

    /// The number of bytes that a text stands for; nil if it stands for none, or for more than 2^63 - 1.
    static func parse(_ text: String) -> Int? {
        let number = text.prefix { ("0"..."9").contains($0) || $0 == "." }
        guard let shift = units[text.dropFirst(number.count).drop { $0 == " " }] else { return nil }
        let parts = number.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int($0) }), whole <= Int.max >> shift else { return nil }
        guard parts.count == 2 else { return whole << shift }
        // More digits than a byte needs are a slip of the pen.
        guard (1...9).contains(parts[1].count), let digits = Int(parts[1]) else { return nil }
        let scale = parts[1].reduce(1) { product, _ in product * 10 }
        let (sum, overflow) = (whole << shift).addingReportingOverflow(
            Int((Int128(digits) << Int128(shift)) / Int128(scale)))
        return overflow ? nil : sum
    }
}
