/// A value of JSON (RFC 8259).
public enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The text of a number, exactly as it was written.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members in their order. No name comes twice.
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

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Creates an object. The names must differ.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0, $1) })
    }
}

// MARK: - Access

extension JSONValue {
    /// The string; nil for other types.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The exact integer; nil for other types and numbers.
    public var integer: Int64? { try? Int64(json: self) }

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

    /// The object without members that are null; other types as they are.
    public var withoutNulls: JSONValue {
        guard let object else { return self }
        return .object(object.filter { $0.value != .null })
    }
}

// MARK: - Reading

/// A type that is read from JSON.
public protocol JSONReadable {
    /// Reads a value.
    ///
    /// - Throws: ``JSONError`` if the value has another form.
    init(json: JSONValue) throws(JSONError)
}

extension JSONValue {
    /// Reads a field of an object. Fields that are not read may have any value.
    ///
    /// - Throws: ``JSONError`` if the field is missing, null or of another form, or this is no object.
    public func read<Value: JSONReadable>(_ name: String) throws(JSONError) -> Value {
        guard let value: Value = try readIfPresent(name) else { throw JSONError(.missingField, path: name) }
        return value
    }

    /// Reads a field of an object; nil if it is missing or null.
    ///
    /// - Throws: ``JSONError`` if the field is of another form, or this is no object.
    public func readIfPresent<Value: JSONReadable>(_ name: String) throws(JSONError) -> Value? {
        guard object != nil else { throw JSONError(.wrongType(expected: .object)) }
        guard let value = self[name], value != .null else { return nil }
        do throws(JSONError) {
            return try Value(json: value)
        } catch {
            throw error.inside(name)
        }
    }

    /// Throws an error for the first field of an object that has none of these names: a misspelt optional parameter would
    /// otherwise have no effect, silently.
    public func refuseFields(otherThan names: [String]) throws(JSONError) {
        for member in object ?? [] where !names.contains(member.name) {
            throw JSONError(.unknownField, path: member.name)
        }
    }
}

// MARK: - Writing

/// A type that is written as JSON.
public protocol JSONWritable {
    /// The value in JSON.
    var json: JSONValue { get }
}

extension JSONValue {
    /// The text without white space.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): Self.write(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a string, with escape sequences where JSON requires them.
    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case 0x08: bytes += "\\b".utf8
            case 0x0c: bytes += "\\f".utf8
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case ..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
