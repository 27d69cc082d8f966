/// One line of the protocol: a verb and fields, decoded, in the order in which they came.
///
/// A line follows the grammar; whether it means something is for `MessageFromApp` and `MessageToApp` to say.
public struct Line: Equatable, Sendable {
    /// What the line is about.
    public let verb: String
    /// What else it says. No key comes twice.
    public let fields: [Field]

    init(_ verb: String, _ fields: [Field] = []) {
        self.verb = verb
        self.fields = fields
    }

    /// Reads a line, given without its line feed.
    ///
    /// Throws a `LineError` when it does not follow the grammar of `docs/app-protocol.md`.
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

    /// The line as it is sent, with its line feed.
    ///
    /// Throws `LineError.tooLong`, `.tooManyFields` or `.unusableText` when what it has to say does not fit a line.
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

    /// The verb that a line begins with, even where the rest does not follow the grammar; nil where it begins with none.
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

    /// A verb or a key: a lower-case letter, then lower-case letters, digits and hyphens.
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
