/// The numbers of JSON, which have any number of digits.
enum JSONNumber {
    enum Inexact: Error {
        case fraction, tooLarge
    }

    /// Returns the exact value of a number that was checked: `1.0` and `1e2` are integers.
    static func integer(_ text: ArraySlice<UInt8>) throws(Inexact) -> Int64 {
        // The negative numbers are one more than the positive ones: the value is below zero until its end.
        var value: Int64 = 0
        // Zeros behind the last digit that is none, which are only a power of ten.
        var zeros = 0
        var scale = 0
        var isFraction = false
        var rest = text
        reading: while let byte = rest.popFirst() {
            switch byte {
            case "-": continue
            case ".":
                isFraction = true
                continue
            case "e", "E":
                scale += exponent(rest)
                break reading
            case "0": zeros += 1
            default:
                let tens = try multiply(value, zeros + 1)
                let (difference, overflow) = tens.subtractingReportingOverflow(Int64(byte - 0x30))
                guard !overflow else { throw .tooLarge }
                value = difference
                zeros = 0
            }
            if isFraction { scale -= 1 }
        }
        guard value == 0 || zeros + scale >= 0 else { throw .fraction }
        value = try multiply(value, zeros + scale)
        if text.first == UInt8(ascii: "-") { return value }
        guard value != .min else { throw .tooLarge }
        return -value
    }

    private static func multiply(_ value: Int64, _ power: Int) throws(Inexact) -> Int64 {
        guard value != 0 else { return 0 }
        var (value, overflow) = (value, false)
        for _ in 0..<power {
            (value, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { throw .tooLarge }
        }
        return value
    }

    /// Returns an exponent up to a limit that is far above all that matter.
    private static func exponent(_ text: ArraySlice<UInt8>) -> Int {
        var value = 0
        for byte in text where 0x30...0x39 ~= byte { value = min(value * 10 + Int(byte - 0x30), 1 << 40) }
        return text.first == UInt8(ascii: "-") ? -value : value
    }
}
