/// A member of an answer that may be null, and is written as null then: an answer always has all its members.
///
/// It asks nothing of the value's type: the runtime would look for conformances whenever a program makes one.
@propertyWrapper
public struct Nullable<Value> {
    /// The value; nil for null.
    public var wrappedValue: Value?

    /// A member with a value, or with null.
    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension Nullable: Sendable where Value: Sendable {}

extension Nullable: Equatable where Value: Equatable {}

extension Nullable: Decodable where Value: Decodable {
    /// Reads a value or null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }
}

extension Nullable: Encodable where Value: Encodable {
    /// Writes the value or null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension KeyedEncodingContainer {
    /// Writes the value or null, without the container of a single value that stands between otherwise.
    public mutating func encode<Value: Encodable>(_ member: Nullable<Value>, forKey key: Key) throws {
        if let value = member.wrappedValue { try encode(value, forKey: key) } else { try encodeNil(forKey: key) }
    }
}

extension KeyedDecodingContainer {
    /// Reads a member that a daemon of another version may leave out.
    public func decode<Value: Decodable>(_ type: Nullable<Value>.Type, forKey key: Key) throws -> Nullable<Value> {
        Nullable(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}
