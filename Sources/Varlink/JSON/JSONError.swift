/// The error of a text that is not JSON, or whose values have other types than the reader expects.
public struct JSONError: Error, Equatable, Sendable {
    /// The cause.
    public enum Kind: Hashable, Sendable {
        /// The text ends within a value.
        case unexpectedEnd
        /// A byte that RFC 8259 does not allow at its position.
        case unexpectedByte
        /// A backslash with other characters behind it than RFC 8259 allows.
        case invalidEscape
        /// An escape sequence for one half of a surrogate pair.
        case loneSurrogate
        case invalidUTF8
        /// An object has the same name twice.
        case duplicateName
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
    public var kind: Kind
    /// The offset in the text, in bytes.
    public var position: Int
    /// The place in the text, for example `environment.PATH` or `command[2]`; empty for the whole text.
    public var path: String

    init(_ kind: Kind, at position: Int, path: String = "") {
        self.kind = kind
        self.position = position
        self.path = path
    }
}

/// The types of values that a reader expects.
public enum JSONType: Sendable {
    case string, integer, boolean, object, array
}

extension JSONError: CustomStringConvertible {
    /// The place and the cause.
    public var description: String {
        let place = path.isEmpty ? "" : path + ": "
        return place + kind.description + " at byte " + String(position)
    }
}

extension JSONError.Kind {
    fileprivate var description: String {
        switch self {
        case .unexpectedEnd: "unexpected end"
        case .unexpectedByte: "unexpected byte"
        case .invalidEscape: "invalid escape sequence"
        case .loneSurrogate: "half of a surrogate pair"
        case .invalidUTF8: "invalid UTF-8"
        case .duplicateName: "duplicate name"
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

// MARK: - Path

/// The step from an object or an array to one of its values.
private enum JSONStep {
    /// The content of the name; nil before the first name and behind a comma.
    case name(Range<Int>?)
    case index(Int)
}

extension Span<UInt8> {
    /// Returns the path of the value that begins or ends at a position. The bytes before it must be checked.
    func path(to end: Int) -> String {
        var steps: [JSONStep] = []
        var position = 0
        while position < end {
            let start = position
            position += 1
            switch (self[start], steps.last) {
            case ("{", _): steps.append(.name(nil))
            case ("[", _): steps.append(.index(0))
            case ("}", _), ("]", _): steps.removeLast()
            case (",", .index(let index)): steps[steps.count - 1] = .index(index + 1)
            case (",", _): steps[steps.count - 1] = .name(nil)
            case ("\"", let step):
                position = endOfString(from: start).end
                // The name that an error is within is not part of the path.
                if case .name(nil) = step, position <= end { steps[steps.count - 1] = .name(start + 1..<position - 1) }
            default: break
            }
        }
        return describe(steps)
    }

    private func describe(_ steps: [JSONStep]) -> String {
        var path = ""
        for step in steps {
            switch step {
            case .name(let name):
                guard let name else { continue }
                var bytes: [UInt8] = []
                appendUnescaped(name, to: &bytes)
                path = JSONError.path(path, String(decoding: bytes, as: UTF8.self))
            case .index(let index): path += "[" + String(index) + "]"
            }
        }
        return path
    }
}

extension JSONError {
    /// Returns the path of a member of an object.
    static func path(_ object: String, _ name: String) -> String {
        object.isEmpty ? name : object + "." + name
    }
}
