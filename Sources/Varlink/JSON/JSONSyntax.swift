func ~= (pattern: Unicode.Scalar, byte: UInt8) -> Bool {
    pattern.value == UInt32(byte)
}

/// The way through JSON that was checked.
extension Span<UInt8> {
    /// Returns the position of the next byte that is not white space.
    func endOfSpace(from start: Int) -> Int {
        var position = start
        while position < count {
            switch self[position] {
            case " ", "\n", "\r", "\t": position += 1
            default: return position
            }
        }
        return position
    }

    /// Returns the position behind a string, and whether the string has escape sequences. Without the closing quotation mark the
    /// position is behind the end.
    func endOfString(from start: Int) -> (end: Int, hasEscapes: Bool) {
        var position = start + 1
        var hasEscapes = false
        while position < count {
            switch self[position] {
            case "\"": return (position + 1, hasEscapes)
            case "\\":
                hasEscapes = true
                position += 2
            default: position += 1
            }
        }
        return (count + 1, hasEscapes)
    }

    /// Returns the position behind a value.
    func endOfValue(from start: Int) -> Int {
        var position = start
        var depth = 0
        repeat {
            switch self[position] {
            case "\"": position = endOfString(from: position).end
            case "{", "[":
                depth += 1
                position += 1
            case "}", "]":
                depth -= 1
                position += 1
            case ",", ":", " ", "\n", "\r", "\t": position += 1
            default: position = endOfWord(from: position)
            }
        } while depth > 0
        return position
    }

    /// Returns the position behind a number, a Boolean value or null.
    func endOfWord(from start: Int) -> Int {
        var position = start
        while position < count {
            switch self[position] {
            case ",", "}", "]", " ", "\n", "\r", "\t": return position
            default: position += 1
            }
        }
        return position
    }

    /// Appends the content of a string, in UTF-8 without escape sequences.
    func appendUnescaped(_ content: Range<Int>, to bytes: inout [UInt8]) {
        var position = content.lowerBound
        while position < content.upperBound {
            let byte = self[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let escaped = self[position]
            position += 1
            switch escaped {
            case "b": bytes.append(0x08)
            case "f": bytes.append(0x0c)
            case "n": bytes.append(0x0a)
            case "r": bytes.append(0x0d)
            case "t": bytes.append(0x09)
            case "u": position = appendScalar(at: position, to: &bytes)
            default: bytes.append(escaped)
            }
        }
    }

    /// Appends a scalar that is written as `\uXXXX` or as a surrogate pair, and returns the position behind it.
    private func appendScalar(at position: Int, to bytes: inout [UInt8]) -> Int {
        var value = UInt32(hexadecimal(at: position) ?? 0)
        var end = position + 4
        if 0xd800..<0xdc00 ~= value {
            value = 0x10000 + (value - 0xd800) << 10 + (UInt32(hexadecimal(at: position + 6) ?? 0) & 0x3ff)
            end += 6
        }
        bytes.append(contentsOf: Unicode.UTF8.encode(Unicode.Scalar(value) ?? "\u{fffd}") ?? .init())
        return end
    }

    /// Returns the number of four hexadecimal digits.
    func hexadecimal(at position: Int) -> UInt16? {
        guard position + 4 <= count else { return nil }
        var value: UInt16 = 0
        for index in position..<position + 4 {
            let byte = self[index]
            switch byte {
            case 0x30...0x39: value = value << 4 | UInt16(byte - 0x30)
            case 0x41...0x46: value = value << 4 | UInt16(byte - 0x37)
            case 0x61...0x66: value = value << 4 | UInt16(byte - 0x57)
            default: return nil
            }
        }
        return value
    }
}

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
