/// The classes of ASCII that the rules for texts are made of.
extension UInt8 {
    /// A Boolean value that indicates whether the byte is a space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// A Boolean value that indicates whether the byte is one of A-Z and a-z.
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    /// A Boolean value that indicates whether the byte is one of 0-9.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// A Boolean value that indicates whether the byte is one of A-Z, a-z and 0-9.
    var isLetterOrDigit: Bool { isLetter || isDigit }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without the blanks at both ends.
    var trimmed: SubSequence {
        guard let first = firstIndex(where: { !$0.isBlank }), let last = lastIndex(where: { !$0.isBlank }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}
