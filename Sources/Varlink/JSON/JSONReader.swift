/// A type that is read from JSON.
public protocol JSONReadable {
    /// Reads one value.
    ///
    /// - Throws: ``JSONError``.
    init(from json: inout JSONReader) throws(JSONError)
}

/// The values of a checked text, from the first to the last. Only their types can be wrong. The reader has one owner, so that no call
/// works on a copy of it.
///
/// Each name and each element is followed by one call that reads or skips the value:
///
/// ```
/// try json.beginObject()
/// while json.nextMember() {
///     if json.isAt("app") { app = try json.readString() } else { json.skipValue() }
/// }
/// ```
public struct JSONReader: ~Copyable {
    /// A Boolean value that indicates whether types that know their names skip unknown ones.
    ///
    /// A service refuses them: a misspelt optional parameter would otherwise have no effect, silently. A client ignores those of
    /// a later service.
    public let ignoresUnknownFields: Bool
    private let bytes: ArraySlice<UInt8>
    /// The offset of the next value, or of the byte behind the last one.
    private var position = 0
    /// The name before the next value. Offsets instead of bytes: a part of the text would be counted as its user.
    private var latestName = JSONString()

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
        try expectObject()
        position += 1
    }

    /// Throws an error unless the value is an object.
    func expectObject() throws(JSONError) {
        guard "{" ~= byte else { throw wrongType(.object) }
    }

    /// Moves to the value of the next name.
    ///
    /// - Returns: False behind the end of the object.
    public mutating func nextMember() -> Bool {
        guard next(before: "}") else { return false }
        latestName = takeString()
        skipSpace()
        // The colon.
        position += 1
        skipSpace()
        return true
    }

    /// Returns whether the value is that of a name.
    ///
    /// - Parameter name: The name without escapes, which are resolved in the text for the comparison.
    /// - Returns: True if both are the same bytes.
    public func isAt(_ name: StaticString) -> Bool {
        if latestName.hasEscapes { return unescaped(latestName).span.isEqual(to: name) }
        // Most names differ in their lengths.
        return latestName.content.count == name.utf8CodeUnitCount
            && bytes.span.extracting(latestName.content).isEqual(to: name)
    }

    /// The name of the value.
    public var name: String { text(latestName) }

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
        return text(takeString())
    }

    private mutating func takeString() -> JSONString {
        let start = position
        let (end, hasEscapes) = bytes.span.endOfString(from: start)
        position = end
        return JSONString(content: start + 1..<end - 1, hasEscapes: hasEscapes)
    }

    private func text(_ string: JSONString) -> String {
        string.hasEscapes
            ? String(decoding: unescaped(string), as: UTF8.self)
            : String(decoding: slice(string.content.lowerBound, string.content.upperBound), as: UTF8.self)
    }

    private func unescaped(_ string: JSONString) -> [UInt8] {
        var result: [UInt8] = []
        bytes.span.appendUnescaped(string.content, to: &result)
        return result
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

    /// Skips the next value, with all that is in it.
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
        case "\"": return .string(text(takeString()))
        case "[":
            position += 1
            var elements: [JSONValue] = []
            while nextElement() { elements.append(readValue()) }
            return .array(elements)
        case "{":
            position += 1
            var members: [JSONValue.Member] = []
            while nextMember() {
                let name = name
                members.append(JSONValue.Member(name, readValue()))
            }
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

    /// Returns the error for the name of the value, if the object must not have it.
    public func unknownField() -> JSONError {
        let start = latestName.content.lowerBound - 1
        return JSONError(.unknownField, at: start, path: JSONError.path(bytes.span.path(to: start), name))
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

/// The place of a string in the text.
private struct JSONString {
    /// The offsets between the quotation marks.
    var content = 0..<0
    var hasEscapes = false
}

extension Span<UInt8> {
    fileprivate func isEqual(to text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for index in indices where unsafe self[index] != text.utf8Start[index] { return false }
        return true
    }
}
