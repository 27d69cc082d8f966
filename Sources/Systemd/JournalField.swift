/// One field of a structured journal entry.
public struct JournalField: Equatable, Sendable {
    /// What journald takes for a field that clients may set: capitals, digits and underscores, at most 64 of them,
    /// beginning with a capital (systemd.journal-fields(7); a leading underscore is journald's own).
    public let name: String

    /// Any text, of several lines too.
    public let value: String

    /// Makes a field, or nothing where journald would refuse the name.
    public init?(_ name: String, _ value: String) {
        guard JournalField.isValid(name: name) else { return nil }
        self.name = name
        self.value = value
    }

    /// Whether journald accepts a field of that name from a client.
    public static func isValid(name: String) -> Bool {
        guard let first = name.utf8.first, isCapital(first), name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { byte in isCapital(byte) || isDigit(byte) || byte == UInt8(ascii: "_") }
    }

    private static func isCapital(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
