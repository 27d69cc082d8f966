/// Texts of any bytes within a line.
enum PercentText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns the part of a text that has so many bytes at most, in whole scalars.
    static func beginning(of text: String, length: Int) -> String {
        guard text.utf8.count > length else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: length)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }

    static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// Returns the text. A percent sign without two digits stands for itself, and bytes that are not UTF-8 are replaced.
    static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var found: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isDigit),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                found.append(value)
                rest = rest.dropFirst(2)
            } else {
                found.append(byte)
            }
        }
        return String(decoding: found, as: UTF8.self)
    }

    /// Returns whether a character is no sign, which UInt8 would read, too.
    private static func isDigit(_ byte: UInt8) -> Bool { byte != UInt8(ascii: "+") && byte != UInt8(ascii: "-") }
}
