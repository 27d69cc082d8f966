/// A command line in words: Desktop Entry Specification 1.5, section 7, as far as quoting goes.
///
/// Where the specification is silent, a line means what a shell would make of its quotes, as other readers have it: quotes
/// within a word, single quotes, a backslash outside of quotes. Nothing is expanded, and no shell is involved.
struct ExecWords {
    /// A byte of a word, and whether it was quoted: in quotes, a percent sign begins no field code.
    struct Unit: Equatable {
        let byte: UInt8
        let isQuoted: Bool
    }

    private(set) var words: [[Unit]] = []
    private var rest: ArraySlice<UInt8>

    init(_ line: String) throws(ExecLine.Defect) {
        rest = Array(line.utf8)[...]
        while let first = rest.first {
            if Self.isSeparator(first) {
                rest.removeFirst()
            } else {
                words.append(try takeWord())
            }
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte.isBlank || byte == UInt8(ascii: "\n") }

    private mutating func takeWord() throws(ExecLine.Defect) -> [Unit] {
        var word: [Unit] = []
        while let byte = rest.first, !Self.isSeparator(byte) {
            rest.removeFirst()
            switch byte {
            case UInt8(ascii: "\""): word += try takeDoubleQuoted()
            case UInt8(ascii: "'"): word += try takeSingleQuoted()
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { throw .loneBackslash }
                word.append(Unit(byte: escaped, isQuoted: true))
            default: word.append(Unit(byte: byte, isQuoted: false))
            }
        }
        return word
    }

    /// A backslash escapes those that mean something in quotes, and is itself before every other.
    private mutating func takeDoubleQuoted() throws(ExecLine.Defect) -> [Unit] {
        var units: [Unit] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return units }
            if byte == UInt8(ascii: "\\"), let escaped = rest.first, "\"`$\\".utf8.contains(escaped) {
                rest.removeFirst()
                units.append(Unit(byte: escaped, isQuoted: true))
            } else {
                units.append(Unit(byte: byte, isQuoted: true))
            }
        }
        throw .openQuote("\"")
    }

    private mutating func takeSingleQuoted() throws(ExecLine.Defect) -> [Unit] {
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else { throw .openQuote("'") }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end].map { Unit(byte: $0, isQuoted: true) }
    }
}
