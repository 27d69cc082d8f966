extension JSONValue {
    /// Parses a text: one value of RFC 8259 in UTF-8 with any white space around it, without a byte order mark, halves of
    /// surrogate pairs and objects that have a name twice.
    ///
    /// - Parameter depth: The deepest nesting of objects and arrays. The parser recurses.
    public init(parsing bytes: ArraySlice<UInt8>, depth: Int = 64) throws(JSONError) {
        var parser = JSONParser(bytes: bytes, depth: depth)
        self = try parser.parse()
    }

    /// Parses a text.
    public init(parsing text: String, depth: Int = 64) throws(JSONError) {
        try self.init(parsing: Array(text.utf8)[...], depth: depth)
    }
}

private struct JSONParser {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private let depth: Int

    init(bytes: ArraySlice<UInt8>, depth: Int) {
        (self.bytes, self.depth) = (bytes, depth)
        position = bytes.startIndex
    }

    mutating func parse() throws(JSONError) -> JSONValue {
        let value = try parseValue(level: 0)
        guard position == bytes.endIndex else { throw JSONError(.malformed) }
        return value
    }

    /// The next byte; 0 at the end.
    private var next: UInt8 { position < bytes.endIndex ? bytes[position] : 0 }

    private mutating func skipSpace() {
        while " \n\r\t".utf8.contains(next) { position += 1 }
    }

    /// Moves behind a byte if it is the next one.
    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: Unicode.Scalar) throws(JSONError) {
        guard take(byte) else { throw JSONError(.malformed) }
    }

    /// Parses a value, and the white space around it.
    private mutating func parseValue(level: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        let value: JSONValue
        switch next {
        case UInt8(ascii: "\""): value = .string(try parseString())
        case UInt8(ascii: "{"): value = .object(try parseObject(level: level + 1))
        case UInt8(ascii: "["): value = .array(try parseArray(level: level + 1))
        case UInt8(ascii: "t"): value = try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): value = try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): value = try parseWord("null", .null)
        default: value = .number(try parseNumber())
        }
        skipSpace()
        return value
    }

    private mutating func parseWord(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw JSONError(.malformed) }
        position += word.utf8.count
        return value
    }

    private mutating func parseArray(level: Int) throws(JSONError) -> [JSONValue] {
        guard level <= depth else { throw JSONError(.tooDeep) }
        position += 1
        skipSpace()
        if take("]") { return [] }
        var elements: [JSONValue] = []
        repeat { elements.append(try parseValue(level: level)) } while take(",")
        try expect("]")
        return elements
    }

    private mutating func parseObject(level: Int) throws(JSONError) -> [JSONValue.Member] {
        guard level <= depth else { throw JSONError(.tooDeep) }
        position += 1
        skipSpace()
        if take("}") { return [] }
        var members: [JSONValue.Member] = []
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw JSONError(.malformed) }
            let name = try parseString()
            skipSpace()
            try expect(":")
            members.append(JSONValue.Member(name, try parseValue(level: level)))
        } while take(",")
        try expect("}")
        guard Set(members.lazy.map { $0.name }).count == members.count else { throw JSONError(.malformed) }
        return members
    }

    private mutating func parseNumber() throws(JSONError) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try skipDigits() }
        if take(".") { try skipDigits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try skipDigits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next) { position += 1 }
        guard position > start else { throw JSONError(.malformed) }
    }

    // MARK: Strings

    private mutating func parseString() throws(JSONError) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            let start = position
            while next >= 0x20, next != UInt8(ascii: "\""), next != UInt8(ascii: "\\") { position += 1 }
            content += bytes[start..<position]
            if take("\"") {
                guard let text = String(validating: content, as: UTF8.self) else { throw JSONError(.malformed) }
                return text
            }
            try expect("\\")
            content += String(try parseEscape()).utf8
        }
    }

    private mutating func parseEscape() throws(JSONError) -> Unicode.Scalar {
        let escaped = next
        position += 1
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(escaped)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var value = try parseCodeUnit()
            if (0xd800..<0xdc00).contains(value) {
                try expect("\\")
                try expect("u")
                let low = try parseCodeUnit()
                guard (0xdc00..<0xe000).contains(low) else { throw JSONError(.malformed) }
                value = 0x10000 + (value - 0xd800) << 10 + (low - 0xdc00)
            }
            // The other half of a pair is no scalar.
            guard let scalar = Unicode.Scalar(value) else { throw JSONError(.malformed) }
            return scalar
        default: throw JSONError(.malformed)
        }
    }

    private mutating func parseCodeUnit() throws(JSONError) -> UInt32 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw JSONError(.malformed) }
        position += 4
        return value
    }
}
