extension JSONValue: JSONReadable, JSONWritable {
    /// Takes the value.
    public init(json: JSONValue) { self = json }

    /// The value in JSON.
    public var json: JSONValue { self }
}

extension String: JSONReadable, JSONWritable {
    /// Reads a value.
    ///
    /// - Throws: ``JSONError`` if it is of another type.
    public init(json: JSONValue) throws(JSONError) {
        guard case .string(let text) = json else { throw JSONError(.wrongType(expected: .string)) }
        self = text
    }

    /// The value in JSON.
    public var json: JSONValue { .string(self) }
}

extension Bool: JSONReadable, JSONWritable {
    /// Reads a value.
    ///
    /// - Throws: ``JSONError`` if it is of another type.
    public init(json: JSONValue) throws(JSONError) {
        guard case .bool(let value) = json else { throw JSONError(.wrongType(expected: .boolean)) }
        self = value
    }

    /// The value in JSON.
    public var json: JSONValue { .bool(self) }
}

extension Int64: JSONReadable, JSONWritable {
    /// Reads the exact value of an integer, which may be written as `1.0` or `1e2`.
    public init(json: JSONValue) throws(JSONError) {
        guard case .number(let text) = json else { throw JSONError(.wrongType(expected: .integer)) }
        if let value = Int64(text) {
            self = value
            return
        }
        let parts = text.split { $0 == "e" || $0 == "E" }
        let number = parts[0].split(separator: ".")
        let fraction = number.count > 1 ? String(number[1]) : ""
        // The number is the digits times a power of ten.
        var digits = String(number[0]) + fraction
        var power = (parts.count > 1 ? Self.exponent(parts[1]) : 0) - fraction.count
        while digits.hasSuffix("0") {
            digits.removeLast()
            power += 1
        }
        if digits.isEmpty || digits == "-" {
            self = 0
            return
        }
        guard power >= 0 else { throw JSONError(.wrongType(expected: .integer)) }
        guard power < 19, let value = Int64(digits + String(repeating: "0", count: power)) else {
            throw JSONError(.outOfRange)
        }
        self = value
    }

    /// Returns an exponent within limits that are far beyond the number of digits of any text.
    private static func exponent(_ text: Substring) -> Int {
        let limit = 1 << 40
        guard let value = Int(text) else { return text.hasPrefix("-") ? -limit : limit }
        return Swift.min(Swift.max(value, -limit), limit)
    }

    /// The value in JSON.
    public var json: JSONValue { .integer(self) }
}

/// Nil is null.
extension Optional: JSONWritable where Wrapped: JSONWritable {
    /// The value in JSON.
    public var json: JSONValue { self?.json ?? .null }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// Reads a value.
    ///
    /// - Throws: ``JSONError`` if it is of another type.
    public init(json: JSONValue) throws(JSONError) {
        guard case .array(let values) = json else { throw JSONError(.wrongType(expected: .array)) }
        self = []
        for (index, value) in values.enumerated() {
            do throws(JSONError) {
                append(try Element(json: value))
            } catch {
                throw error.inside(index)
            }
        }
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    /// The value in JSON.
    public var json: JSONValue { .array(map { $0.json }) }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// Reads a value.
    ///
    /// - Throws: ``JSONError`` if it is of another type.
    public init(json: JSONValue) throws(JSONError) {
        guard case .object(let members) = json else { throw JSONError(.wrongType(expected: .object)) }
        self = [:]
        for member in members { self[member.name] = try json.read(member.name) as Value }
    }
}

/// The names are sorted, so that equal dictionaries are equal texts.
extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    /// The value in JSON.
    public var json: JSONValue {
        .object(sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value.json) })
    }
}
