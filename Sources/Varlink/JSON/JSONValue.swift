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
        /// The name.
        public var name: String
        /// The value.
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
