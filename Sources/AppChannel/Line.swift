/// One line of the protocol: a verb and fields, decoded, in the order in which they came.
///
/// A line follows the grammar; whether it means something is for `MessageFromApp` and `MessageToApp` to say.
public struct Line: Equatable, Sendable {
    /// The first word of the line, such as `done`.
    public let verb: String
    /// The fields, with unique keys.
    public let fields: [Field]

    init(_ verb: String, _ fields: [Field] = []) {
        self.verb = verb
        self.fields = fields
    }

    /// Reads a line, given without its line feed.
    ///
    /// - Throws: ``LineError`` if the line does not follow the grammar of `docs/apps/protocol.md`.
    public init(parsing bytes: ArraySlice<UInt8>) throws(LineError) {
        guard bytes.count < AppProtocol.maximumLineLength else { throw .tooLong }
        guard !bytes.isEmpty else { throw .empty }
        let verbEnd = bytes.firstIndex(of: UInt8(ascii: " ")) ?? bytes.endIndex
        guard let verb = Self.word(bytes[..<verbEnd]) else { throw .malformedVerb }
        var fields: [Field] = []
        var rest = bytes[verbEnd...]
        while !rest.isEmpty {
            guard fields.count < AppProtocol.maximumFieldCount else { throw .tooManyFields }
            rest = rest.dropFirst()
            let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
            let field = try Self.field(rest[..<end])
            guard fields.value(of: field.key) == nil else { throw .duplicateField(key: field.key) }
            fields.append(field)
            rest = rest[end...]
        }
        self.init(verb, fields)
    }

    /// Returns the encoded line, with its line feed.
    ///
    /// - Throws: `LineError.tooLong`, `.tooManyFields` or `.unusableText` if the content does not fit a line.
    public func encoded() throws(LineError) -> [UInt8] {
        guard fields.count <= AppProtocol.maximumFieldCount else { throw .tooManyFields }
        var bytes = Array(verb.utf8)
        for field in fields {
            guard !field.value.utf8.contains(0) else { throw .unusableText(key: field.key) }
            bytes.append(UInt8(ascii: " "))
            bytes.append(contentsOf: field.key.utf8)
            bytes.append(UInt8(ascii: "="))
            PercentCoding.encode(field.value, into: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        guard bytes.count <= AppProtocol.maximumLineLength else { throw .tooLong }
        return bytes
    }

    /// Returns the verb that a line begins with, even if the rest does not follow the grammar; nil if it begins with
    /// none.
    static func verb(of bytes: ArraySlice<UInt8>) -> String? {
        word(bytes.prefix { $0 != UInt8(ascii: " ") })
    }

    private static func field(_ bytes: ArraySlice<UInt8>) throws(LineError) -> Field {
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), let key = word(bytes[..<equals]) else {
            throw .malformedField
        }
        guard let decoded = PercentCoding.decode(bytes[(equals + 1)...]) else { throw .malformedValue(key: key) }
        guard !decoded.contains(0), let value = String(validating: decoded, as: UTF8.self) else {
            throw .unusableText(key: key)
        }
        return Field(key: key, value: value)
    }

    /// Returns a verb or a key: a lower-case letter, then lower-case letters, digits and hyphens.
    private static func word(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let first = bytes.first, case UInt8(ascii: "a")...UInt8(ascii: "z") = first else { return nil }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                continue
            default:
                return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The error of a line that was received or is to be sent.
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
    /// The line follows the grammar, and has an unknown verb.
    case unknownVerb(String)
}

extension LineError: CustomStringConvertible {
    /// The error as a clause.
    public var description: String {
        switch self {
        case .tooLong: "the line is longer than \(AppProtocol.maximumLineLength) bytes"
        case .tooManyFields: "the line has more than \(AppProtocol.maximumFieldCount) fields"
        case .empty: "the line is empty"
        case .malformedVerb: "the line does not begin with a verb"
        case .malformedField: "a part of the line does not have the form key=value"
        case .malformedValue(let key): "the value of “\(key)” is not percent-encoded"
        case .unusableText(let key): "the value of “\(key)” is not UTF-8 text without NUL"
        case .duplicateField(let key): "the field “\(key)” is there twice"
        case .missingField(let key): "the field “\(key)” is missing"
        case .notANumber(let key): "the value of “\(key)” is not a number from 0 to 2^63 - 1"
        case .unknownValue(let key): "the value of “\(key)” is not one of the valid values"
        case .unknownVerb(let verb): "the verb “\(verb)” is unknown"
        }
    }
}

/// Cuts a stream of bytes into lines.
///
/// Holds at most one unfinished line and the finished lines that were not taken yet. A line that is too long is not kept: it is reported
/// once, in its place, as soon as it is known to be too long, and the rest of it is skipped.
public struct LineBuffer: Sendable {
    /// An element of the stream.
    public enum Entry: Equatable, Sendable {
        /// A line without its line feed.
        case line(ArraySlice<UInt8>)
        /// Here was a line of more than `AppProtocol.maximumLineLength` bytes.
        case tooLongLine
    }

    private var entries: [Entry] = []
    private var nextEntry = 0
    /// The start of a line. A line that is too long does not grow after it was reported.
    private var unfinished: [UInt8] = []

    /// Creates an empty buffer.
    public init() {}

    /// Creates a buffer that continues another one with this `remainder`. Any bytes are valid.
    public init(remainder: [UInt8]) {
        unfinished = Array(remainder.prefix(AppProtocol.maximumLineLength))
    }

    /// The incomplete line at the end of the stream. Has `AppProtocol.maximumLineLength` bytes when the line is too long,
    /// which was reported then.
    public var remainder: [UInt8] { unfinished }

    // A line of the greatest length has one byte more: its line feed.
    private var isSkipping: Bool { unfinished.count == AppProtocol.maximumLineLength }

    /// A Boolean value that indicates whether `next()` returns an element.
    public var isEmpty: Bool { nextEntry == entries.count }

    /// Appends bytes of the stream, in pieces of any size.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finishLine()
            } else if !isSkipping {
                extendLine(by: byte)
            }
        }
    }

    /// Returns the next entry; nil until all of a line has come.
    public mutating func next() -> Entry? {
        guard nextEntry < entries.count else {
            entries.removeAll(keepingCapacity: false)
            nextEntry = 0
            return nil
        }
        defer { nextEntry += 1 }
        return entries[nextEntry]
    }

    private mutating func finishLine() {
        if !isSkipping { entries.append(.line(unfinished[...])) }
        unfinished = []
    }

    private mutating func extendLine(by byte: UInt8) {
        unfinished.append(byte)
        if isSkipping { entries.append(.tooLongLine) }
    }
}
