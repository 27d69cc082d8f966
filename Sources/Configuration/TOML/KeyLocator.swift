/// Finds the lines of a TOML text's keys, and refuses texts that the TOML library cannot be trusted with.
///
/// The library (toml++ 3.4 under TOMLKit 0.6) gives lines for syntax errors only. It recurses once for each part of a
/// dotted key without a limit, loses text after a NUL, and relies on assertions, which release builds do not check,
/// where a header holds no key. The locator therefore goes over the text first. It knows the shape of TOML (headers,
/// keys, strings, brackets) and nothing of its values; the library sees only text of that shape.
struct KeyLocator {
    /// Deeper than any configuration, shallow enough for every stack.
    static let maximumDepth = 32

    private var lines: [[String]: Int] = [:]
    /// The number of elements of each array of tables so far.
    private var elementCounts: [[String]: Int] = [:]
    private var cursor: ByteCursor

    /// The end of a search at the cursor.
    private struct Halt: Error {
        let message: String

        static func expected(_ what: String) -> Halt {
            Halt(message: "not valid TOML: expected \(what)")
        }

        static func notAValue(_ text: String) -> Halt {
            Halt(message: "not valid TOML: \(text.quoted) is not a value; texts are in quotation marks")
        }

        static let tooDeep = Halt(message: "nested too deeply: at most \(maximumDepth) levels are accepted")
        static let holdsNUL = Halt(message: "holds the character NUL, which no text does")
        static let unclosed = Halt(message: "not valid TOML: a string is not closed")
        static let escape = Halt(
            message: "not valid TOML: unknown escape in a string; in '…' a backslash is only itself")
    }

    /// Goes over a text, which is UTF-8.
    init(_ bytes: [UInt8]) throws(TOMLDefect) {
        cursor = ByteCursor(bytes)
        do throws(Halt) {
            try readDocument()
        } catch {
            throw TOMLDefect(line: cursor.line, message: error.message)
        }
    }

    /// Returns the name of an array's element in a path, counted from 1.
    static func element(_ number: Int) -> String { "[\(number)]" }

    /// Returns the line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        var path = path
        while !path.isEmpty {
            if let line = lines[path] { return line }
            path.removeLast()
        }
        return nil
    }

    private mutating func readDocument() throws(Halt) {
        _ = cursor.consume("\u{FEFF}")
        var table: [String] = []
        try skipBlankLines()
        while cursor.current != nil {
            if cursor.current == UInt8(ascii: "[") {
                table = try readHeader()
            } else {
                try readAssignment(in: table, depth: 0)
            }
            try readEndOfLine()
            try skipBlankLines()
        }
    }

    private mutating func readHeader() throws(Halt) -> [String] {
        let line = cursor.line
        let closing = cursor.consume("[[") ? "]]" : "]"
        if closing == "]" { cursor.advance() }
        var path = elementPath(of: try readKey())
        guard cursor.consume(closing) else { throw .expected("\(closing) at the end of the header") }
        if closing == "]]" {
            elementCounts[path, default: 0] += 1
            path.append(Self.element(elementCounts[path] ?? 1))
        }
        try record(path, at: line)
        return path
    }

    /// Returns the path of an element. In a header, the name of an array of tables stands for its last element, except
    /// at the end.
    private func elementPath(of key: [String]) -> [String] {
        var path: [String] = []
        for part in key {
            if let count = elementCounts[path] { path.append(Self.element(count)) }
            path.append(part)
        }
        return path
    }

    private mutating func readAssignment(in table: [String], depth: Int) throws(Halt) {
        let line = cursor.line
        let path = table + (try readKey())
        try record(path, at: line)
        guard cursor.consume("=") else { throw .expected("= after the key") }
        skipSpaces()
        try readValue(of: path, depth: depth)
    }

    private mutating func readEndOfLine() throws(Halt) {
        skipSpaces()
        try skipComment()
        _ = cursor.consume("\r")
        guard cursor.current == nil || cursor.consume("\n") else { throw .expected("the end of the line") }
    }

    /// Returns the first place counts, because a table can be written in parts. A dotted key stands for the tables in
    /// it as well.
    private mutating func record(_ path: [String], at line: Int) throws(Halt) {
        guard path.count <= Self.maximumDepth else { throw .tooDeep }
        var path = path
        while !path.isEmpty, lines[path] == nil {
            lines[path] = line
            path.removeLast()
        }
    }
}

// Values, of which only the keys in inline tables matter.
extension KeyLocator {
    private mutating func readValue(of path: [String], depth: Int) throws(Halt) {
        guard depth < Self.maximumDepth else { throw .tooDeep }
        switch cursor.current {
        case UInt8(ascii: "["):
            var number = 0
            try readElements(until: "]") { (locator: inout Self) throws(Halt) in
                number += 1
                try locator.readValue(of: path + [Self.element(number)], depth: depth + 1)
            }
        case UInt8(ascii: "{"):
            try readElements(until: "}") { (locator: inout Self) throws(Halt) in
                try locator.readAssignment(in: path, depth: depth + 1)
            }
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            _ = try readString()
        default:
            try readScalar()
        }
    }

    /// Returns a number, a boolean, a date, a time.
    private mutating func readScalar() throws(Halt) {
        var text = String(decoding: cursor.takeAll(where: Self.isScalar), as: UTF8.self)
        guard !text.isEmpty else { throw .expected("a value; texts are in quotation marks") }
        // A space may stand between a date and a time, or may end the value.
        if text.utf8.count == "1979-05-27".utf8.count, text.contains("-"), cursor.consume(" ") {
            let time = String(decoding: cursor.takeAll(where: Self.isScalar), as: UTF8.self)
            if !time.isEmpty { text += " " + time }
        }
        guard TOMLScalar.isWellFormed(text) else { throw .notAValue(text) }
    }

    private mutating func readElements(
        until closing: String,
        _ readElement: (inout Self) throws(Halt) -> Void
    ) throws(Halt) {
        cursor.advance()
        try skipBlankLines()
        while !cursor.consume(closing) {
            try readElement(&self)
            try skipBlankLines()
            if cursor.consume(",") {
                try skipBlankLines()
            } else if cursor.consume(closing) {
                return
            } else {
                throw .expected("a comma or \(closing)")
            }
        }
    }

    private static func isScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: ":"): true
        default: isBareKey(byte)
        }
    }
}

// Keys and strings.
extension KeyLocator {
    private mutating func readKey() throws(Halt) -> [String] {
        var parts: [String] = []
        repeat {
            guard parts.count < Self.maximumDepth else { throw .tooDeep }
            skipSpaces()
            parts.append(try readKeyPart())
            skipSpaces()
        } while cursor.consume(".")
        return parts
    }

    private mutating func readKeyPart() throws(Halt) -> String {
        if cursor.current == UInt8(ascii: "\"") || cursor.current == UInt8(ascii: "'") { return try readString() }
        let bare = cursor.takeAll(where: Self.isBareKey)
        guard !bare.isEmpty else { throw .expected("a key; quote it if it has other characters than A-Z a-z 0-9 _ -") }
        return String(decoding: bare, as: UTF8.self)
    }

    private static func isBareKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    private mutating func readString() throws(Halt) -> String {
        let isBasic = cursor.current == UInt8(ascii: "\"")
        let mark = isBasic ? "\"" : "'"
        let isMultiline = cursor.consume(mark + mark + mark)
        let closing = isMultiline ? mark + mark + mark : mark
        if !isMultiline { cursor.advance() }
        var content: [UInt8] = []
        while let byte = cursor.current {
            if cursor.consume(closing) {
                // Up to two quotation marks more can belong to the string itself.
                if isMultiline { _ = cursor.consume(mark) && cursor.consume(mark) }
                return String(decoding: content, as: UTF8.self)
            }
            if byte == 0 { throw .holdsNUL }
            if byte == UInt8(ascii: "\n"), !isMultiline { throw .unclosed }
            cursor.advance()
            if isBasic, byte == UInt8(ascii: "\\") {
                content += try readEscape(isMultiline: isMultiline).utf8
            } else {
                content.append(byte)
            }
        }
        throw .unclosed
    }

    private static let escapes: [UInt8: Character] = [
        UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "t"): "\t", UInt8(ascii: "n"): "\n", UInt8(ascii: "f"): "\u{C}",
        UInt8(ascii: "r"): "\r", UInt8(ascii: "e"): "\u{1B}", UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\",
    ]

    private mutating func readEscape(isMultiline: Bool) throws(Halt) -> String {
        guard let kind = cursor.current else { throw .unclosed }
        // A backslash at the end of a line joins it to the next; the blanks after it do not matter here.
        if isMultiline, Self.isBlank(kind) { return "" }
        cursor.advance()
        if let character = Self.escapes[kind] { return String(character) }
        switch kind {
        case UInt8(ascii: "x"): return try readCodePoint(digits: 2)
        case UInt8(ascii: "u"): return try readCodePoint(digits: 4)
        case UInt8(ascii: "U"): return try readCodePoint(digits: 8)
        default: throw .escape
        }
    }

    private mutating func readCodePoint(digits: Int) throws(Halt) -> String {
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

// What lies between.
extension KeyLocator {
    private static func isBlank(_ byte: UInt8) -> Bool {
        isSpace(byte) || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private mutating func skipSpaces() {
        cursor.takeAll(where: Self.isSpace)
    }

    private mutating func skipComment() throws(Halt) {
        guard cursor.current == UInt8(ascii: "#") else { return }
        cursor.takeAll { $0 != UInt8(ascii: "\n") && $0 != 0 }
        guard cursor.current != 0 else { throw .holdsNUL }
    }

    private mutating func skipBlankLines() throws(Halt) {
        while let byte = cursor.current, Self.isBlank(byte) || byte == UInt8(ascii: "#") {
            if Self.isBlank(byte) { cursor.advance() } else { try skipComment() }
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
