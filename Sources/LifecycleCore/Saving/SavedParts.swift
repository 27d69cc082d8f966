/// Writes the parts of a value in the order of the table of its type, or reads them.
///
/// A value of a slot and a value as text have the same parts. Each part is nil for nothing, and after bytes without meaning.
package protocol PartCoder: ~Copyable {
    /// A Boolean value that indicates whether parts are read.
    var isReading: Bool { get }
    /// A Boolean value that indicates whether the parts are text.
    var isText: Bool { get }

    /// Writes or reads a number. Nil is written as 0, and as the empty text.
    mutating func number(_ value: UInt64?) -> UInt64?
    /// Writes or reads a text without a separator. Nil is the empty text there.
    mutating func text(_ value: String?) -> String?
    /// Writes or reads the last part, which may contain separators.
    mutating func rest(_ value: String?) -> String?
    /// Writes or reads a byte of a slot. Text has none.
    mutating func byte(_ value: UInt8?) -> UInt8?
}

extension PartCoder where Self: ~Copyable {
    @inline(__always)
    package mutating func rest(_ value: String?) -> String? { text(value) }

    package mutating func byte(_ value: UInt8?) -> UInt8? { value }

    /// Writes or reads a word; nil for one of another version.
    @inline(__always)
    mutating func word<Word: RawRepresentable<String>>(_ value: Word?) -> Word? {
        let word = text(value?.rawValue)
        return isReading ? word.flatMap { Word(rawValue: $0) } : value
    }

    /// Writes or reads a reason as the last part.
    @inline(__always)
    mutating func lastReason(_ value: Reason?) -> Reason? {
        let word = rest(value?.rawValue)
        return isReading ? word.map { Reason(saved: $0) } : value
    }

    /// Writes or reads an instant, which a complete value has.
    @inline(__always)
    mutating func instant(_ value: Instant?) -> Instant? {
        number(value?.microseconds).map { Instant(microseconds: $0) }
    }

    /// Writes or reads an instant that a complete value may lack.
    mutating func optionalInstant(_ value: Instant?) -> Instant? {
        isText || byte(value == nil ? 0 : 1) == 1 ? instant(value) : nil
    }

    /// Writes or reads up to three texts as the last parts.
    mutating func texts(_ values: [String]) -> [String] {
        var coded: [String] = []
        for position in 0..<3 {
            var value = position < values.count ? values[position] : nil
            guard isReading || value != nil else { break }
            if isText { value = value.map { SavedText.escaped($0) } }
            guard let value = position < 2 ? text(value) : rest(value) else { break }
            coded.append(isText ? SavedText.unescaped(value) : value)
        }
        return coded
    }
}

/// A value with parts.
package protocol SavedItem {
    /// The byte between the parts in text.
    static var separator: Unicode.Scalar { get }

    /// Writes the parts of a value, or reads them: the table of the type.
    ///
    /// - Parameters:
    ///   - item: The value to write; nil to read one.
    ///   - parts: The writer or the reader, at the first part.
    /// - Returns: The value that was written or read; nil for parts without meaning.
    static func code(_ item: Self?, with parts: inout some PartCoder & ~Copyable) -> Self?
}

extension SavedItem {
    /// A colon.
    package static var separator: Unicode.Scalar { ":" }

    /// The value as one line of text.
    package var text: String {
        var parts = TextPartWriter(separator: Self.separator)
        _ = Self.code(self, with: &parts)
        return parts.text
    }

    /// Creates the value of such a text; nil for any other text.
    package init?(text: String) {
        var parts = TextPartReader(text, separator: Self.separator)
        guard let item = Self.code(nil, with: &parts), parts.isAtEnd else { return nil }
        self = item
    }
}

// MARK: - Text

/// Writes the parts of a value as text.
private struct TextPartWriter: PartCoder {
    let separator: Unicode.Scalar
    var parts: [String] = []
    var isReading: Bool { false }
    var isText: Bool { true }

    var text: String { parts.joined(separator: String(separator)) }

    mutating func number(_ value: UInt64?) -> UInt64? {
        parts.append(value.map { String($0) } ?? "")
        return value
    }

    mutating func text(_ value: String?) -> String? {
        parts.append(value ?? "")
        return value
    }
}

/// Reads the parts of a value from text.
private struct TextPartReader: PartCoder {
    private let separator: UInt8
    /// The parts that are not read yet; nil behind the last one.
    private var left: Substring.UTF8View?
    var isReading: Bool { true }
    var isText: Bool { true }

    init(_ text: String, separator: Unicode.Scalar) {
        self.separator = UInt8(ascii: separator)
        left = text.utf8[...]
    }

    /// A Boolean value that indicates whether everything was read.
    var isAtEnd: Bool { left == nil }

    mutating func text(_ value: String?) -> String? {
        guard let parts = left, let end = parts.firstIndex(of: separator) else { return rest(nil) }
        left = parts[parts.index(after: end)...]
        return String(decoding: parts[..<end], as: UTF8.self)
    }

    mutating func rest(_ value: String?) -> String? {
        defer { left = nil }
        return left.map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func number(_ value: UInt64?) -> UInt64? { text(nil).flatMap { UInt64($0) } }
}

/// The escaping of text in saved records: one unit separator between the parts of a value, and an escape sequence for
/// each separator and escape inside a part. Separators are bytes and not characters: with what follows it, such as a combining
/// accent, a separator may be another character.
enum SavedText {
    /// The byte between the parts of a value.
    static let separator: Unicode.Scalar = "\u{1F}"
    private static let escape: Unicode.Scalar = "\u{1E}"

    /// Returns the text without separators.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case separator: result += [escape, "f"]
            case escape: result += [escape, "e"]
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the text that was escaped.
    static func unescaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, rest.first) {
            case (escape, "f"): result.append(separator)
            case (escape, "e"): result.append(escape)
            default:
                result.append(scalar)
                continue
            }
            rest.removeFirst()
        }
        return String(result)
    }
}
