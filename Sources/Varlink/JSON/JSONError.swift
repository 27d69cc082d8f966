/// The error of a text that is not JSON, or whose values have other types than the reader expects.
public struct JSONError: Error, Equatable, Sendable {
    /// The cause.
    public enum Kind: Hashable, Sendable {
        /// The text is not JSON in UTF-8, or an object has the same name twice.
        case malformed
        /// Objects and arrays nest deeper than the limit.
        case tooDeep
        case wrongType(expected: JSONType)
        case missingField
        case unknownField
        /// A number does not fit into 64 bits.
        case outOfRange
        /// A string is none of the words that are allowed.
        case unknownValue
    }

    /// The cause.
    public let kind: Kind
    /// The place in the text, for example `environment.PATH` or `command[2]`; empty for the whole text.
    public private(set) var path: String

    /// Creates the error of a value.
    public init(_ kind: Kind, path: String = "") {
        self.kind = kind
        self.path = path
    }

    /// Returns the error as one of the object that has the value under a name.
    func inside(_ name: String) -> JSONError {
        JSONError(kind, path: path.isEmpty || path.hasPrefix("[") ? name + path : "\(name).\(path)")
    }

    /// Returns the error as one of the array that has the value at an index.
    func inside(_ index: Int) -> JSONError { inside("[\(index)]") }
}

/// The types of values that a reader expects.
public enum JSONType: Sendable {
    case string, integer, boolean, object, array
}

extension JSONError: CustomStringConvertible {
    /// The place and the cause.
    public var description: String {
        path.isEmpty ? kind.description : "\(path): \(kind.description)"
    }
}

extension JSONError.Kind {
    fileprivate var description: String {
        switch self {
        case .malformed: "not JSON"
        case .tooDeep: "nested too deeply"
        case .wrongType(.string): "not a string"
        case .wrongType(.integer): "not an integer"
        case .wrongType(.boolean): "not a Boolean value"
        case .wrongType(.object): "not an object"
        case .wrongType(.array): "not an array"
        case .missingField: "missing field"
        case .unknownField: "unknown field"
        case .outOfRange: "number out of range"
        case .unknownValue: "unknown value"
        }
    }
}
