/// A place in a text, moving forward only.
struct ByteCursor {
    let bytes: [UInt8]
    private(set) var position = 0

    /// The line of the place, counted from 1.
    private(set) var line = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The byte at the place; nil at the end.
    var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    mutating func advance() {
        guard let current else { return }
        if current == UInt8(ascii: "\n") { line += 1 }
        position += 1
    }

    /// Moves past `expected` if that is what comes next, and says whether it was.
    mutating func consume(_ expected: String) -> Bool {
        guard bytes[position...].starts(with: expected.utf8) else { return false }
        for _ in expected.utf8 { advance() }
        return true
    }

    /// Moves past every byte that fits, and returns them.
    @discardableResult
    mutating func takeAll(where fits: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while let current, fits(current) { advance() }
        return bytes[start..<position]
    }

    /// Where the current line ends, its line break included.
    var endOfLine: Int {
        bytes[position...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
    }
}
