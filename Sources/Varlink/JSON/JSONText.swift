/// A JSON text that was checked as a whole.
///
/// It is one value of RFC 8259 in valid UTF-8, without a byte order mark and without halves of surrogate pairs. No object has
/// a name twice, and objects and arrays nest no deeper than the limit.
public struct JSONText: Sendable, Equatable {
    /// The text `{}`.
    public static let emptyObject = JSONText(checked: [UInt8(ascii: "{"), UInt8(ascii: "}")])

    /// The bytes of the value, without white space around it.
    public let bytes: ArraySlice<UInt8>

    init(checked bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    /// Checks a text.
    ///
    /// - Parameters:
    ///   - depth: The deepest nesting of objects and arrays. The check recurses.
    /// - Throws: ``JSONError``.
    public init(_ bytes: ArraySlice<UInt8>, depth: Int = 64) throws(JSONError) {
        var checker = JSONChecker(depth: depth)
        do throws(JSONError) {
            let value = try checker.check(bytes.span)
            let start = bytes.startIndex
            self.bytes = bytes[start + value.lowerBound..<start + value.upperBound]
        } catch {
            var error = error
            let isName = error.kind == .duplicateName
            error.path = bytes.span.path(to: isName ? bytes.span.endOfString(from: error.position).end : error.position)
            throw error
        }
    }

    /// Checks a text.
    ///
    /// - Parameters:
    ///   - bytes: One value with any space around it.
    ///   - depth: The deepest nesting of objects and arrays that is accepted.
    /// - Throws: ``JSONError``.
    public init(_ bytes: [UInt8], depth: Int = 64) throws(JSONError) {
        try self.init(bytes[...], depth: depth)
    }

    /// Reads the text as a value.
    ///
    /// - Throws: ``JSONError``.
    @inlinable public func read<Value: JSONReadable>(_ type: Value.Type = Value.self) throws(JSONError) -> Value {
        var reader = JSONReader(self)
        return try reader.read()
    }

    /// Reads the text as a value of the peer's, which may have names that this side does not know.
    func readReply<Value: JSONReadable>() throws(JSONError) -> Value {
        var reader = JSONReader(self, ignoresUnknownFields: true)
        return try reader.read()
    }
}
