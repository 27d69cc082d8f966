/// The rule for the names that apps go by.
///
/// An id appears in file names, cgroup names, journal fields and on the command line, so it must be safe in all of them.
public enum AppIdentifier {
    /// The longest id, in bytes.
    public static let maximumLength = 128

    /// The rule in words, to follow "is".
    public static let form = "1 to \(maximumLength) of A-Z a-z 0-9 . _ -, starting with neither . nor -"

    /// The rule in words, to follow "expected".
    public static let rule = "an app id (\(form))"

    /// Returns whether a text can be an app's id.
    public static func isValid(_ text: String) -> Bool {
        let bytes = text.utf8
        guard let first = bytes.first, bytes.count <= maximumLength else { return false }
        guard first != UInt8(ascii: "."), first != UInt8(ascii: "-") else { return false }
        return bytes.allSatisfy(isAllowed)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: byte.isLetterOrDigit
        }
    }
}
