public import LifecycleTypes

/// The reason why the daemon refuses a task or an activity.
///
/// The word of an ``AssertionRefusal``, or one of a newer daemon.
public struct RefusalReason: RawRepresentable, Hashable, Sendable {
    /// The word in the protocol.
    public let rawValue: String

    /// Creates the reason of a word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates the reason of a refusal.
    public init(_ refusal: AssertionRefusal) { self.init(rawValue: refusal.rawValue) }
}

/// The reason why the daemon ignored a line of an app.
///
/// The list is open: a newer daemon may have reasons that are not named here.
public struct MistakeReason: RawRepresentable, Hashable, Sendable {
    /// The word in the protocol.
    public let rawValue: String

    /// Creates the reason of a word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The line has more bytes than a line may have.
    public static let tooLong = MistakeReason(rawValue: "too-long")
    /// The line has more fields than a line may have.
    public static let tooManyFields = MistakeReason(rawValue: "too-many-fields")
    /// The line is empty.
    public static let emptyLine = MistakeReason(rawValue: "empty-line")
    /// The line does not begin with a verb that follows the grammar.
    public static let malformedVerb = MistakeReason(rawValue: "malformed-verb")
    /// Something after a space is not `key=value` with a key that follows the grammar.
    public static let malformedField = MistakeReason(rawValue: "malformed-field")
    /// A value has a byte that should have been percent-encoded, or a percent sign without two hex digits.
    public static let malformedValue = MistakeReason(rawValue: "malformed-value")
    /// A decoded value is not UTF-8, or holds a NUL.
    public static let unusableText = MistakeReason(rawValue: "unusable-text")
    /// A field comes more than once.
    public static let duplicateField = MistakeReason(rawValue: "duplicate-field")
    /// The verb needs a field that is not there.
    public static let missingField = MistakeReason(rawValue: "missing-field")
    /// A value is not a decimal number from 0 to 2^63 - 1.
    public static let notANumber = MistakeReason(rawValue: "not-a-number")
    /// A value is none of those that the field may have.
    public static let unknownValue = MistakeReason(rawValue: "unknown-value")
    /// The daemon does not know the verb.
    public static let unknownVerb = MistakeReason(rawValue: "unknown-verb")
    /// The line comes before `hello`, or is a second `hello`.
    public static let outOfPlace = MistakeReason(rawValue: "out-of-place")

    /// Every reason that this version sends.
    public static let all = [
        tooLong, tooManyFields, emptyLine, malformedVerb, malformedField, malformedValue, unusableText, duplicateField,
        missingField, notANumber, unknownValue, unknownVerb, outOfPlace,
    ]
}

/// The reason why the daemon closes a channel.
///
/// The list is open: a newer daemon may have reasons that are not named here.
public struct GoodbyeReason: RawRepresentable, Hashable, Sendable {
    /// The word in the protocol.
    public let rawValue: String

    /// Creates the reason of a word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The app made more mistakes than it may make.
    public static let tooManyMistakes = GoodbyeReason(rawValue: "too-many-mistakes")
    /// The daemon does not wait for the app to come back.
    public static let notExpected = GoodbyeReason(rawValue: "not-expected")

    /// Every reason that this version sends.
    public static let all = [tooManyMistakes, notExpected]
}

/// The report about a line that the daemon ignored.
public struct Mistake: Equatable, Sendable {
    /// The most bytes that a verb or a key has here; a longer one is not repeated.
    static let wordLimit = 64

    /// The rule that the line breaks.
    public var reason: MistakeReason
    /// The line's verb, if it follows the grammar.
    public var verb: String?
    /// The field that is wrong, if it is one.
    public var key: String?

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - reason: The reason.
    ///   - verb: The line's verb; nil if the line does not follow the grammar. A verb of more than 64 bytes is left out.
    ///   - key: The field that is wrong; nil for none. A key of more than 64 bytes is left out.
    public init(_ reason: MistakeReason, verb: String? = nil, key: String? = nil) {
        self.reason = reason
        self.verb = verb.flatMap { $0.utf8.count > Self.wordLimit ? nil : $0 }
        self.key = key.flatMap { $0.utf8.count > Self.wordLimit ? nil : $0 }
    }

    /// The mistake of a line that could not be read.
    ///
    /// - Parameter line: The line without its line feed; nil for a line that is too long to be kept.
    public init(_ error: LineError, in line: ArraySlice<UInt8>?) {
        let (reason, key) = error.reason
        self.init(reason, verb: line.flatMap { Line.verb(of: $0) }, key: key)
    }

    init(_ fields: [Field]) throws(LineError) {
        self.init(
            MistakeReason(rawValue: try fields.required("reason")), verb: fields.value(of: "verb"),
            key: fields.value(of: "key"))
    }

    var line: Line {
        var fields = [Field("reason", reason.rawValue)]
        if let verb { fields.append(Field("verb", verb)) }
        if let key { fields.append(Field("key", key)) }
        return Line("mistake", fields)
    }
}

extension LineError {
    /// The protocol's word for the error, and the field that it is about.
    fileprivate var reason: (MistakeReason, key: String?) {
        switch self {
        case .tooLong: (.tooLong, nil)
        case .tooManyFields: (.tooManyFields, nil)
        case .empty: (.emptyLine, nil)
        case .malformedVerb: (.malformedVerb, nil)
        case .malformedField: (.malformedField, nil)
        case .malformedValue(let key): (.malformedValue, key)
        case .unusableText(let key): (.unusableText, key)
        case .duplicateField(let key): (.duplicateField, key)
        case .missingField(let key): (.missingField, key)
        case .notANumber(let key): (.notANumber, key)
        case .unknownValue(let key): (.unknownValue, key)
        case .unknownVerb: (.unknownVerb, nil)
        }
    }
}
