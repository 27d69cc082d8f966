/// What is wrong with a line that the daemon left out, and which line it was.
public struct Mistake: Equatable, Sendable {
    /// The most bytes that a verb or a key has here; a longer one is not repeated.
    static let wordLimit = 64

    /// What is wrong.
    public var reason: MistakeReason
    /// The line's verb, if it follows the grammar.
    public var verb: String?
    /// The field that is wrong, if it is one.
    public var key: String?

    /// A mistake of which everything is known.
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
