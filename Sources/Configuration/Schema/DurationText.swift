/// Lengths of time as users write them: `500ms`, `5s`, `1min 30s`, `1.5h`.
enum DurationText {
    /// The units, each in nanoseconds. There is no `m`, which could be minutes or months.
    private static let units: [Substring: Int] = [
        "us": 1_000,
        "ms": 1_000_000,
        "s": 1_000_000_000,
        "min": 60_000_000_000,
        "h": 3_600_000_000_000,
        "d": 86_400_000_000_000,
    ]

    /// Returns the length of time a text stands for; nil if it stands for none, or for more than 292 years.
    static func parse(_ text: String) -> Duration? {
        var rest = text[...]
        var total = 0
        repeat {
            guard let part = parsePart(&rest) else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(part)
            guard !overflow else { return nil }
            total = sum
            rest = rest.drop { $0 == " " }
        } while !rest.isEmpty
        return .nanoseconds(total)
    }

    /// Reads one number and its unit, in nanoseconds.
    private static func parsePart(_ rest: inout Substring) -> Int? {
        let whole = takeDigits(&rest)
        var fraction: Substring?
        if rest.first == "." {
            rest.removeFirst()
            fraction = takeDigits(&rest)
        }
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        rest.removeFirst(name.count)
        guard let unit = units[name], let count = Int(whole), fraction.map({ !$0.isEmpty }) ?? true else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, let part = nanoseconds(ofFraction: fraction ?? "", unit: unit) else { return nil }
        let (sum, overflows) = product.addingReportingOverflow(part)
        return overflows ? nil : sum
    }

    private static func takeDigits(_ rest: inout Substring) -> Substring {
        let digits = rest.prefix { ("0"..."9").contains($0) }
        rest.removeFirst(digits.count)
        return digits
    }

    /// Integers only, so that "0.1s" is exact. Digits below a nanosecond do not count.
    private static func nanoseconds(ofFraction digits: Substring, unit: Int) -> Int? {
        var scale = unit
        var total = 0
        for digit in digits.prefix(18) {
            guard let value = digit.wholeNumberValue else { return nil }
            scale /= 10
            total += value * scale
        }
        return total
    }
}

/// Amounts of memory as users write them: `512K`, `64M`, `1G`, `1.5G`, `64MiB`, `4096`.
enum SizeText {
    /// The number of bits that each unit shifts: they go up by 1024, as in systemd's files.
    private static let units: [Substring: Int] = [
        "": 0, "B": 0, "K": 10, "KiB": 10, "M": 20, "MiB": 20, "G": 30, "GiB": 30, "T": 40, "TiB": 40,
    ]

    /// Returns the number of bytes that a text stands for; nil if it stands for none, or for more than 2^63 - 1.
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
