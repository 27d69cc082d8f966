/// Lengths of time as people write them: `500ms`, `5s`, `1min 30s`, `1.5h`.
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

    /// The length of time a text stands for; nil if it stands for none, or for more than 292 years.
    static func parse(_ text: String) -> Duration? {
        var rest = text[...]
        var total = 0
        repeat {
            guard let part = takePart(&rest) else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(part)
            guard !overflow else { return nil }
            total = sum
            rest = rest.drop { $0 == " " }
        } while !rest.isEmpty
        return .nanoseconds(total)
    }

    /// One number and its unit, in nanoseconds.
    private static func takePart(_ rest: inout Substring) -> Int? {
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

    /// Integers only, so that "0.1s" is exactly what it says. Digits below a nanosecond do not count.
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
