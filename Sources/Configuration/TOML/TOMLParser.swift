/// Reads a TOML 1.0.0 text: its values, and the lines of its keys.
///
/// The library for TOML in Swift links Foundation, which has more code than the daemon, and never frees what it has read.
struct TOMLParser {
    /// Deeper than any configuration, shallow enough for every stack.
    static let maximumDepth = 32

    /// The line of each key and table; of a table that is written in parts, the first.
    private(set) var lines: [[String]: Int] = [:]
    private var cursor: ByteCursor

    /// Creates a parser of a text, which is UTF-8.
    init(_ bytes: [UInt8]) { cursor = ByteCursor(bytes) }

    /// Reads the text.
    mutating func parse() throws(Defect) -> [String: TOMLNode] {
        let root = TOMLTable(.header)
        do throws(Defect) {
            try readDocument(into: root)
        } catch {
            throw Defect(
                line: cursor.line, cannot: "parse the file", error.message, remedy: "ignoring the file")
        }
        return root.nodes
    }

    private mutating func readDocument(into root: TOMLTable) throws(Defect) {
        _ = cursor.consume("\u{FEFF}")
        var (table, path) = (root, [String]())
        try skipBlankLines()
        while cursor.current != nil {
            if cursor.current == UInt8(ascii: "[") {
                (table, path) = try readHeader(in: root)
            } else {
                try readAssignment(in: table, at: path, depth: 0)
            }
            try readEndOfLine()
            try skipBlankLines()
        }
    }

    private mutating func readHeader(in root: TOMLTable) throws(Defect) -> (TOMLTable, path: [String]) {
        let line = cursor.line
        let isElement = cursor.consume("[[")
        if !isElement { cursor.advance() }
        let key = try readKey()
        let closing: StaticString = isElement ? "]]" : "]"
        guard cursor.consume(closing) else { throw .expected("\(closing) at the end of the header") }
        let (table, path) = try root.define(key, isElement: isElement)
        try record(path, at: line)
        return (table, path)
    }

    private mutating func readAssignment(in table: TOMLTable, at path: [String], depth: Int) throws(Defect) {
        let line = cursor.line
        let key = try readKey()
        let path = path + key
        try record(path, at: line)
        guard cursor.consume("=") else { throw .expected("= after the key") }
        skipSpaces()
        let value = try readValue(at: path, depth: depth)
        try table.set(key, to: value)
    }

    private mutating func readEndOfLine() throws(Defect) {
        skipSpaces()
        try skipComment()
        guard cursor.current == nil || cursor.consume("\n") || cursor.consume("\r\n") else {
            throw .expected("the end of the line")
        }
    }

    /// Records the line of a path, and of the tables in it that have none yet: a table can be written in parts, and a dotted
    /// key stands for tables.
    private mutating func record(_ path: [String], at line: Int) throws(Defect) {
        guard path.count <= Self.maximumDepth else { throw .tooDeep }
        var path = path
        while !path.isEmpty, lines[path] == nil {
            lines[path] = line
            path.removeLast()
        }
    }
}

// MARK: - Values

extension TOMLParser {
    private mutating func readValue(at path: [String], depth: Int) throws(Defect) -> TOMLNode {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        switch cursor.current {
        case UInt8(ascii: "["): return .array(try readArray(at: path, depth: depth))
        case UInt8(ascii: "{"): return .table(try readInlineTable(at: path, depth: depth))
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try readString(isKey: false))
        default: return try readScalar()
        }
    }

    /// Reads a number, a Boolean, a date or a time.
    private mutating func readScalar() throws(Defect) -> TOMLNode {
        var text = String(decoding: cursor.takeAll(where: Self.isScalar), as: UTF8.self)
        guard !text.isEmpty else { throw .expected("a value; put texts in quotation marks") }
        // A space may stand between a date and a time, or may end the value.
        if text.utf8.count == "1979-05-27".utf8.count, text.contains("-"), cursor.consume(" ") {
            let time = String(decoding: cursor.takeAll(where: Self.isScalar), as: UTF8.self)
            if !time.isEmpty { text += " " + time }
        }
        guard let node = TOMLScalar.node(of: text) else {
            throw TOMLScalar.isInteger(text) ? .tooLarge(text) : .notAValue(text)
        }
        return node
    }

    private mutating func readArray(at path: [String], depth: Int) throws(Defect) -> [TOMLNode] {
        var elements: [TOMLNode] = []
        cursor.advance()
        try skipBlankLines()
        while !cursor.consume("]") {
            // Only tables and arrays have lines below them.
            let isNested = cursor.current == UInt8(ascii: "[") || cursor.current == UInt8(ascii: "{")
            let place = isNested ? path + [TOMLDocument.element(elements.count + 1)] : path
            elements.append(try readValue(at: place, depth: depth + 1))
            try skipBlankLines()
            if cursor.consume(",") {
                try skipBlankLines()
            } else if cursor.current != UInt8(ascii: "]") {
                throw .expected("a comma or ]")
            }
        }
        return elements
    }

    private mutating func readInlineTable(at path: [String], depth: Int) throws(Defect) -> [String: TOMLNode] {
        let table = TOMLTable(.header)
        cursor.advance()
        skipSpaces()
        if cursor.consume("}") { return [:] }
        repeat {
            try readAssignment(in: table, at: path, depth: depth + 1)
            skipSpaces()
        } while cursor.consume(",")
        guard cursor.consume("}") else { throw .expected("a comma or }") }
        return table.nodes
    }

    private static func isScalar(_ byte: UInt8) -> Bool {
        isBareKey(byte) || "+.:".utf8.contains(byte)
    }
}

// MARK: - Keys and strings

extension TOMLParser {
    private mutating func readKey() throws(Defect) -> [String] {
        var parts: [String] = []
        repeat {
            guard parts.count < Self.maximumDepth else { throw .tooDeep }
            skipSpaces()
            parts.append(try readKeyPart())
            skipSpaces()
        } while cursor.consume(".")
        return parts
    }

    private mutating func readKeyPart() throws(Defect) -> String {
        if cursor.current == UInt8(ascii: "\"") || cursor.current == UInt8(ascii: "'") {
            return try readString(isKey: true)
        }
        let bare = cursor.takeAll(where: Self.isBareKey)
        guard !bare.isEmpty else { throw .expected("a key; quote it if it has other characters than A-Z a-z 0-9 _ -") }
        return String(decoding: bare, as: UTF8.self)
    }

    private static func isBareKey(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    private mutating func readString(isKey: Bool) throws(Defect) -> String {
        let isBasic = cursor.current == UInt8(ascii: "\"")
        let (mark, marks): (StaticString, StaticString) = isBasic ? ("\"", "\"\"\"") : ("'", "'''")
        let isMultiline = !isKey && cursor.consume(marks)
        let closing = isMultiline ? marks : mark
        if !isMultiline {
            cursor.advance()
        } else if !cursor.consume("\n") {
            _ = cursor.consume("\r\n")
        }
        var content: [UInt8] = []
        let end = isBasic ? UInt8(ascii: "\"") : UInt8(ascii: "'")
        while true {
            // Almost all of a string, in most cases.
            content += cursor.takeAll { $0 != end && $0 != UInt8(ascii: "\\") && !Self.isControl($0) }
            guard let byte = cursor.current else { throw .unclosed }
            if cursor.consume(closing) {
                // Up to two quotation marks more belong to the string itself.
                for _ in 0..<2 where isMultiline && cursor.consume(mark) { content.append(end) }
                return String(decoding: content, as: UTF8.self)
            }
            if isBasic, byte == UInt8(ascii: "\\") {
                cursor.advance()
                content += try readEscape(isMultiline: isMultiline).utf8
            } else {
                content += try readCharacter(isMultiline: isMultiline)
            }
        }
    }

    /// Reads a byte of a string, or a line break.
    private mutating func readCharacter(isMultiline: Bool) throws(Defect) -> [UInt8] {
        guard let byte = cursor.current else { return [] }
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
            guard isMultiline else { throw .unclosed }
            if cursor.consume("\r\n") { return Array("\r\n".utf8) }
        }
        guard byte == UInt8(ascii: "\n") || !Self.isControl(byte) else { throw byte == 0 ? .holdsNUL : .holdsControl }
        cursor.advance()
        return [byte]
    }

    /// Returns whether a byte may stand in no string and no comment.
    private static func isControl(_ byte: UInt8) -> Bool {
        byte < UInt8(ascii: " ") && byte != UInt8(ascii: "\t") || byte == 0x7F
    }

    private static let escapes: [UInt8: Character] = [
        UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "t"): "\t", UInt8(ascii: "n"): "\n", UInt8(ascii: "f"): "\u{C}",
        UInt8(ascii: "r"): "\r", UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\",
    ]

    private mutating func readEscape(isMultiline: Bool) throws(Defect) -> String {
        guard let kind = cursor.current else { throw .unclosed }
        if isMultiline, Self.isBlankOrLineBreak(kind) { return try skipJoinedLines() }
        cursor.advance()
        if let character = Self.escapes[kind] { return String(character) }
        switch kind {
        case UInt8(ascii: "u"): return try readCodePoint(digits: 4)
        case UInt8(ascii: "U"): return try readCodePoint(digits: 8)
        default: throw .escape
        }
    }

    /// Skips the blanks and line breaks after a backslash at the end of a line, which joins the line to the next text.
    private mutating func skipJoinedLines() throws(Defect) -> String {
        skipSpaces()
        guard cursor.current == UInt8(ascii: "\n") || cursor.current == UInt8(ascii: "\r") else { throw .escape }
        while cursor.consume("\n") || cursor.consume("\r\n") { skipSpaces() }
        return ""
    }

    private mutating func readCodePoint(digits: Int) throws(Defect) -> String {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let byte = cursor.current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw .escape
            }
            value = value << 4 | UInt32(digit)
            cursor.advance()
        }
        guard value != 0 else { throw .holdsNUL }
        guard let scalar = Unicode.Scalar(value) else { throw .escape }
        return String(scalar)
    }
}

// MARK: - Blanks and comments

extension TOMLParser {
    private static func isBlankOrLineBreak(_ byte: UInt8) -> Bool {
        byte.isBlank || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    private mutating func skipSpaces() {
        cursor.takeAll(where: \.isBlank)
    }

    private mutating func skipComment() throws(Defect) {
        guard cursor.current == UInt8(ascii: "#") else { return }
        cursor.takeAll { !Self.isControl($0) }
        guard let end = cursor.current, !Self.isBlankOrLineBreak(end) else { return }
        throw end == 0 ? .holdsNUL : .holdsControl
    }

    private mutating func skipBlankLines() throws(Defect) {
        while let byte = cursor.current {
            if byte == UInt8(ascii: "#") {
                try skipComment()
            } else if byte.isBlank {
                skipSpaces()
            } else if !cursor.consume("\n"), !cursor.consume("\r\n") {
                return
            }
        }
    }
}

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
    mutating func consume(_ expected: StaticString) -> Bool {
        let end = position + expected.utf8CodeUnitCount
        guard end <= bytes.count, expected.withUTF8Buffer({ unsafe bytes[position..<end].elementsEqual($0) }) else {
            return false
        }
        while position < end { advance() }
        return true
    }

    /// Moves past every byte that fits, and returns them.
    @discardableResult
    mutating func takeAll(where fits: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count, fits(bytes[position]) { advance() }
        return bytes[start..<position]
    }
}

/// The reasons why a text cannot be parsed, to follow "cannot parse the file".
extension Defect {
    static func expected(_ what: String) -> Defect {
        Defect(message: "expected \(what)")
    }

    static func notAValue(_ text: String) -> Defect {
        Defect(message: "\(text.quoted) is no value; put texts in quotation marks")
    }

    static func tooLarge(_ text: String) -> Defect {
        Defect(message: "the integer \(text.quoted) is too large; an integer has 64 bits")
    }

    static func definedTwice(_ key: String) -> Defect {
        Defect(message: "\(key.quoted) is defined twice")
    }

    static let tooDeep = Defect(message: "values are nested deeper than \(TOMLParser.maximumDepth) levels")
    static let holdsNUL = Defect(message: "the text has the character NUL")
    static let holdsControl = Defect(message: "the text has a control character; write it as an escape")
    static let unclosed = Defect(message: "a string is not closed")
    static let escape = Defect(
        message: "a string has an unknown escape; write '…', where a backslash is only itself")
}
