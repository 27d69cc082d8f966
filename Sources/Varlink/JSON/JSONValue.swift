/// Any value, for JSON whose form is not known.
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The text of a number, exactly as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A member of an object.
    public struct Member: Equatable, Sendable {
        /// The name, without escapes.
        public var name: String
        /// The value of the member.
        public var value: JSONValue

        /// Creates a member.
        ///
        /// - Parameters:
        ///   - name: The name, without escapes.
        ///   - value: The value.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates an integer.
    public static func integer(_ value: Int64) -> JSONValue {
        .number(String(value))
    }
}

// MARK: - Access

extension JSONValue {
    /// The string; nil for other types.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The exact integer; nil for other types and numbers.
    public var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return try? JSONText(Array(text.utf8)).read()
    }

    /// The Boolean value; nil for other types.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The members in their order; nil for other types.
    public var object: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Returns a value of an object; nil without such a name, and for other types.
    public subscript(name: String) -> JSONValue? {
        object?.first { $0.name == name }?.value
    }
}

// MARK: - Reading and writing

extension JSONValue: JSONReadable, JSONWritable {
    /// Reads any value.
    ///
    /// - Throws: Nothing; every checked text is a value.
    public init(from json: inout JSONReader) throws(JSONError) {
        self = json.readValue()
    }

    /// Writes the value.
    public func write(to json: inout JSONWriter) {
        switch self {
        case .null: json.writeNull()
        case .bool(let value): json.write(value)
        case .number(let text): json.append(word: text)
        case .string(let text): json.write(text)
        case .array(let elements): json.write(elements)
        case .object(let members):
            json.beginObject()
            for member in members {
                json.key(member.name)
                member.value.write(to: &json)
            }
            json.endObject()
        }
    }
}

/// A JSON text that was checked as a whole.
///
/// It is one value of RFC 8259 in valid UTF-8, without a byte order mark and without halves of surrogate pairs. No object has
/// a name twice, and objects and arrays nest no deeper than the limit.
public struct JSONText: Sendable, Equatable {
    /// The text `{}`.
    public static let emptyObject = JSONText(checked: [UInt8(ascii: "{"), UInt8(ascii: "}")])

    /// The bytes of the value, without white space around it.
    public let bytes: ArraySlice<UInt8>

    init(checked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Checks a text.
    ///
    /// - Parameters:
    ///   - depth: The deepest nesting of objects and arrays. The check recurses.
    /// - Throws: ``JSONError``.
    public init(_ bytes: ArraySlice<UInt8>, depth: Int = 64) throws(JSONError) {
        var checker = JSONChecker(depth: depth)
        do throws(JSONError) {
            let value = try checker.check(bytes.span)
            let start = bytes.startIndex
            self.bytes = bytes[start + value.lowerBound..<start + value.upperBound]
        } catch {
            var error = error
            let isName = error.kind == .duplicateName
            error.path = bytes.span.path(to: isName ? bytes.span.endOfString(from: error.position).end : error.position)
            throw error
        }
    }

    /// Checks a text.
    ///
    /// - Parameters:
    ///   - bytes: One value with any space around it.
    ///   - depth: The deepest nesting of objects and arrays that is accepted.
    /// - Throws: ``JSONError``.
    public init(_ bytes: [UInt8], depth: Int = 64) throws(JSONError) {
        try self.init(bytes[...], depth: depth)
    }

    /// Reads the text as a value.
    ///
    /// - Throws: ``JSONError``.
    public func read<Value: JSONReadable>(_ type: Value.Type = Value.self) throws(JSONError) -> Value {
        var reader = JSONReader(self)
        return try reader.read()
    }

    /// Reads the text as a value of the peer's, which may have names that this side does not know.
    func readReply<Value: JSONReadable>() throws(JSONError) -> Value {
        var reader = JSONReader(self, ignoresUnknownFields: true)
        return try reader.read()
    }
}
