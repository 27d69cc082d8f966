/// The rule for the names of media types: RFC 6838, section 4.2.
public enum MediaType {
    /// Returns whether a text is a media type, or all of a family, such as `image/*`.
    public static func isValid(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isName(parts[0]) else { return false }
        return parts[1] == "*" || isName(parts[1])
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first.isLetterOrDigit, text.utf8.count <= 127 else { return false }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || "!#$&-^_.+".utf8.contains($0) }
    }
}
