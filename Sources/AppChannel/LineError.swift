/// What is wrong with a line, or with what a line was to be made of.
///
/// A case holds only text that the rules have already found to be short ASCII, so that a description can go to a log as it
/// is.
public enum LineError: Error, Equatable, Sendable {
    /// The line has more bytes than `AppProtocol.maximumLineLength`.
    case tooLong
    /// The line has more fields than `AppProtocol.maximumFieldCount`.
    case tooManyFields
    /// The line has no bytes.
    case empty
    /// The line does not begin with a verb that follows the grammar.
    case malformedVerb
    /// Something after a space is not `key=value` with a key that follows the grammar.
    case malformedField
    /// The value of `key` has a byte that should have been percent-encoded, or a percent sign without two hex digits.
    case malformedValue(key: String)
    /// The decoded value of `key` is not UTF-8, or holds a NUL, which C has no place for.
    case unusableText(key: String)
    /// The field `key` comes more than once.
    case duplicateField(key: String)
    /// The verb needs the field `key`.
    case missingField(key: String)
    /// The value of `key` is not a decimal number from 0 to 2^63 - 1.
    case notANumber(key: String)
    /// The value of `key` is none of those that the field may have.
    case unknownValue(key: String)
    /// The line follows the grammar, but whoever reads it does not know its verb.
    case unknownVerb(String)
}

extension LineError: CustomStringConvertible {
    /// A sentence that says what is wrong.
    public var description: String {
        switch self {
        case .tooLong: "The line is longer than 16384 bytes."
        case .tooManyFields: "The line has more than 32 fields."
        case .empty: "The line is empty."
        case .malformedVerb: "The line does not begin with a verb."
        case .malformedField: "A part of the line is not of the form key=value."
        case .malformedValue(let key): "The value of “\(key)” is not percent-encoded as it should be."
        case .unusableText(let key): "The value of “\(key)” is not UTF-8 text without NUL."
        case .duplicateField(let key): "The field “\(key)” comes twice."
        case .missingField(let key): "The field “\(key)” is missing."
        case .notANumber(let key): "The value of “\(key)” is not a number from 0 to 2^63 - 1."
        case .unknownValue(let key): "The value of “\(key)” is none of those that it may have."
        case .unknownVerb(let verb): "The verb “\(verb)” is not known."
        }
    }
}
