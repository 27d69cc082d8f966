extension Span<UInt8> {
    /// The decimal number that begins here; nil where there is none, or one that is too large.
    func number<Number: FixedWidthInteger>(at position: inout Int) -> Number? {
        let isNegative = position < count && self[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let start = position
        var value: Number = 0
        while position < count, case let digit = self[position] &- UInt8(ascii: "0"), digit < 10 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative
                ? product.subtractingReportingOverflow(Number(digit)) : product.addingReportingOverflow(Number(digit))
            guard !overflow, !carry else { return nil }
            value = sum
            position += 1
        }
        return position > start ? value : nil
    }
}

extension FixedWidthInteger {
    /// A decimal number that fills the bytes exactly.
    init?(ascii bytes: ArraySlice<UInt8>) {
        guard let first = bytes.first, first != UInt8(ascii: "+") else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}
