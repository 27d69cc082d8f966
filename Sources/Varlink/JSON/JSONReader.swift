/// A type that is read from JSON.
public protocol JSONReadable {
    /// Reads one value.
    ///
    /// - Throws: ``JSONError``.
    init(from json: inout JSONReader) throws(JSONError)
}

/// The values of a checked text, from the first to the last. Only their types can be wrong.
///
/// Each name and each element is followed by one call that reads or skips the value:
///
/// ```
/// try json.beginObject()
/// while let key = json.nextKey() {
///     switch key {
///     case "app": app = try json.readString()
///     default: json.skipValue()
///     }
/// }
/// ```
public struct JSONReader {
    /// A Boolean value that indicates whether types that know their names skip unknown ones.
    ///
    /// A service refuses them: a misspelt optional parameter would otherwise have no effect, silently. A client ignores those of
    /// a later service.
    public let ignoresUnknownFields: Bool
    private let bytes: ArraySlice<UInt8>
    /// The offset of the next value, or of the byte behind the last one.
    private var position = 0

    /// Creates a reader at the start of a text.
    ///
    /// - Parameters:
    ///   - text: The text, which the reader shares.
    ///   - ignoresUnknownFields: A Boolean value that indicates whether types that know their names skip unknown ones.
    public init(_ text: JSONText, ignoresUnknownFields: Bool = false) {
        bytes = text.bytes
        self.ignoresUnknownFields = ignoresUnknownFields
    }

    /// The next byte; 0 at the end.
    private var byte: UInt8 {
        let index = bytes.startIndex + position
        return index < bytes.endIndex ? bytes[index] : 0
    }

    private mutating func skipSpace() {
        position = bytes.span.endOfSpace(from: position)
    }

    private func slice(_ start: Int, _ end: Int) -> ArraySlice<UInt8> {
        bytes[bytes.startIndex + start..<bytes.startIndex + end]
    }
}

// MARK: - Objects and arrays

extension JSONReader {
    /// Enters an object.
    ///
    /// - Throws: ``JSONError``.
    public mutating func beginObject() throws(JSONError) {
        guard "{" ~= byte else { throw wrongType(.object) }
        position += 1
    }

    /// Moves to the value of the next name.
    ///
    /// - Returns: The name; nil behind the end of the object.
    public mutating func nextKey() -> JSONKey? {
        guard next(before: "}") else { return nil }
        let key = takeString()
        skipSpace()
        // The colon.
        position += 1
        skipSpace()
        return key
    }

    /// Enters an array.
    ///
    /// - Throws: ``JSONError``.
    public mutating func beginArray() throws(JSONError) {
        guard "[" ~= byte else { throw wrongType(.array) }
        position += 1
    }

    /// Moves to the next element.
    ///
    /// - Returns: False behind the end of the array.
    public mutating func nextElement() -> Bool {
        next(before: "]")
    }

    private mutating func next(before end: Unicode.Scalar) -> Bool {
        skipSpace()
        if end ~= byte {
            position += 1
            return false
        }
        if "," ~= byte {
            position += 1
            skipSpace()
        }
        return true
    }
}

// MARK: - Values

extension JSONReader {
    /// Reads a value of a type.
    ///
    /// - Throws: ``JSONError``.
    public mutating func read<Value: JSONReadable>(_ type: Value.Type = Value.self) throws(JSONError) -> Value {
        try Value(from: &self)
    }

    /// Reads a string.
    ///
    /// - Throws: ``JSONError``.
    public mutating func readString() throws(JSONError) -> String {
        guard "\"" ~= byte else { throw wrongType(.string) }
        return takeString().string
    }

    private mutating func takeString() -> JSONKey {
        let start = position
        let (end, hasEscapes) = bytes.span.endOfString(from: start)
        position = end
        return JSONKey(content: slice(start + 1, end - 1), hasEscapes: hasEscapes, position: start)
    }

    /// Reads an integer, which may be written with a fraction of zeros or with an exponent.
    ///
    /// - Throws: ``JSONError``.
    public mutating func readInt() throws(JSONError) -> Int64 {
        guard "-" ~= byte || 0x30...0x39 ~= byte else { throw wrongType(.integer) }
        let end = bytes.span.endOfWord(from: position)
        do throws(JSONNumber.Inexact) {
            let number = try JSONNumber.integer(slice(position, end))
            position = end
            return number
        } catch {
            throw self.error(error == .fraction ? .wrongType(expected: .integer) : .outOfRange)
        }
    }

    /// Reads `true` or `false`.
    ///
    /// - Throws: ``JSONError``.
    public mutating func readBool() throws(JSONError) -> Bool {
        switch byte {
        case "t":
            position += 4
            return true
        case "f":
            position += 5
            return false
        default: throw wrongType(.boolean)
        }
    }

    /// Reads null.
    ///
    /// - Returns: False if the value is not null, which is still to be read.
    public mutating func readNull() -> Bool {
        guard "n" ~= byte else { return false }
        position += 4
        return true
    }

    /// Skips a value.
    public mutating func skipValue() {
        position = bytes.span.endOfValue(from: position)
    }

    /// Returns any value as a text of its own, without a copy.
    public mutating func readText() -> JSONText {
        let start = position
        skipValue()
        return JSONText(checked: slice(start, position))
    }
}

// MARK: - Any value

extension JSONReader {
    mutating func readValue() -> JSONValue {
        switch byte {
        case "n":
            skipValue()
            return .null
        case "t", "f":
            let isTrue = "t" ~= byte
            skipValue()
            return .bool(isTrue)
        case "\"": return .string(takeString().string)
        case "[":
            position += 1
            var elements: [JSONValue] = []
            while nextElement() { elements.append(readValue()) }
            return .array(elements)
        case "{":
            position += 1
            var members: [JSONValue.Member] = []
            while let key = nextKey() { members.append(JSONValue.Member(key.string, readValue())) }
            return .object(members)
        default: return .number(String(decoding: readText().bytes, as: UTF8.self))
        }
    }
}

// MARK: - Errors

extension JSONReader {
    /// Returns the error for an object at its end that lacks a name.
    public func missingField(_ name: StaticString) -> JSONError {
        JSONError(.missingField, at: position, path: JSONError.path(bytes.span.path(to: position), name.description))
    }

    /// Returns the error for a name that the object must not have.
    public func unknownField(_ key: JSONKey) -> JSONError {
        let path = JSONError.path(bytes.span.path(to: key.position), key.string)
        return JSONError(.unknownField, at: key.position, path: path)
    }

    /// Returns the error for the string before, if it is none of the words that are allowed.
    public func unknownValue() -> JSONError {
        error(.unknownValue)
    }

    private func wrongType(_ expected: JSONType) -> JSONError {
        error(.wrongType(expected: expected))
    }

    /// Returns an error about the value that begins or ends here.
    func error(_ kind: JSONError.Kind) -> JSONError {
        JSONError(kind, at: position, path: bytes.span.path(to: position))
    }
}

// MARK: - Names

/// A name of an object, or another string, for comparisons without a copy.
public struct JSONKey {
    fileprivate let content: ArraySlice<UInt8>
    fileprivate let hasEscapes: Bool
    fileprivate let position: Int

    /// The name.
    public var string: String {
        hasEscapes ? String(decoding: unescaped, as: UTF8.self) : String(decoding: content, as: UTF8.self)
    }

    private var unescaped: [UInt8] {
        var bytes: [UInt8] = []
        content.span.appendUnescaped(0..<content.count, to: &bytes)
        return bytes
    }

    /// Returns whether the name is the pattern.
    ///
    /// - Parameters:
    ///   - pattern: The name without escapes.
    ///   - key: The name in the text, whose escapes are resolved for the comparison.
    /// - Returns: True if both are the same bytes.
    public static func ~= (pattern: StaticString, key: JSONKey) -> Bool {
        key.hasEscapes ? key.unescaped.span.isEqual(to: pattern) : key.content.span.isEqual(to: pattern)
    }
}

extension Span<UInt8> {
    fileprivate func isEqual(to text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in indices where unsafe self[index] != text.utf8Start[index] { return false }
        return true
    }
}
