/// The escaping of text in saved records: one unit separator between the parts of a value, and an escape sequence for
/// each separator and escape inside a part. Separators are bytes and not characters: with what follows it, such as a combining
/// accent, a separator may be another character.
public enum SavedText {
    /// The byte between the parts of a value.
    public static let separator: Unicode.Scalar = "\u{1F}"
    private static let escape: Unicode.Scalar = "\u{1E}"

    /// Returns the text without separators.
    public static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case separator:
                result.append(escape)
                result.append("f")
            case escape:
                result.append(escape)
                result.append("e")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the text that was escaped.
    public static func unescaped(_ text: String) -> String {
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

extension String {
    /// Returns the parts between separators; the last of `maxSplits + 1` parts may contain separators.
    public func words(separator: Unicode.Scalar = ":", maxSplits: Int) -> [String] {
        utf8.split(separator: UInt8(ascii: separator), maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
