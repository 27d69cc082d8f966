import CSystemd
import Glibc

/// The bytes of an entry: its fields, each as `NAME=value` with a space behind it. A buffer for many entries, one at a time.
public nonisolated struct JournalEntry: ~Copyable {
    private struct Field {
        let start: Int
        let value: Int
        let end: Int
        /// True if the value has visible ASCII only, and no quotation marks.
        let isPlain: Bool
    }

    private var buffer: [UInt8] = []
    private var fields: [Field] = []
    /// The begin of the field that is not ended, and that of its value.
    private var start = 0
    private var value = 0

    /// Creates an entry without fields.
    public init() {}

    /// The number of fields.
    public var count: Int { fields.count }

    /// Calls a closure with the bytes of the entry.
    public borrowing func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(buffer.span)
    }

    /// Calls a closure with the place of each field among the bytes, that of its value, and whether the value is known to have visible
    /// ASCII only, and no quotation marks.
    public borrowing func forEachField(_ body: (_ field: Range<Int>, _ value: Range<Int>, _ isPlain: Bool) -> Void) {
        for field in fields { body(field.start..<field.end, field.value..<field.end, field.isPlain) }
    }

    // MARK: Names

    /// Returns whether journald accepts a field of that name from a client: capitals, digits and underscores, at most 64 of them,
    /// beginning with a capital (systemd.journal-fields(7); a leading underscore is journald's own).
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

    // MARK: Composing

    /// Removes all fields.
    public mutating func removeAll() {
        buffer.removeAll()
        fields.removeAll()
    }

    /// Begins a field, whose value is appended until ``endField(isPlain:)``.
    ///
    /// - Parameter name: A name that journald accepts; see ``isValid(name:)``.
    public mutating func beginField(_ name: String) {
        start = buffer.count
        append(name)
        beginValue()
    }

    private mutating func beginValue() {
        buffer.append(UInt8(ascii: "="))
        value = buffer.count
    }

    /// Ends the field that ``beginField(_:)`` began.
    ///
    /// - Parameter isPlain: True if the value has visible ASCII only, and no quotation marks.
    public mutating func endField(isPlain: Bool = false) {
        fields.append(Field(start: start, value: value, end: buffer.count, isPlain: isPlain))
        buffer.append(UInt8(ascii: " "))
    }

    /// Adds a field with a text, unless journald does not accept its name.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - text: Any text, of several lines too.
    public mutating func add(named name: String, _ text: String) {
        guard Self.isValid(name: name) else { return }
        start = buffer.count
        append(name)
        beginValue()
        append(text)
        endField()
    }

    /// Adds a field with a text.
    ///
    /// - Parameters:
    ///   - name: A name that journald accepts; see ``isValid(name:)``.
    ///   - text: Any text, of several lines too.
    public mutating func add(_ name: String, _ text: String) {
        beginField(name)
        append(text)
        endField()
    }

    /// Adds a field with a word.
    ///
    /// - Parameters:
    ///   - name: A name that journald accepts; see ``isValid(name:)``.
    ///   - word: Visible ASCII without quotation marks.
    public mutating func add(_ name: String, word: String) {
        beginField(name)
        append(word)
        endField(isPlain: true)
    }

    /// Adds a field with a number.
    ///
    /// - Parameters:
    ///   - name: A name that journald accepts; see ``isValid(name:)``.
    ///   - number: The value, which is written in decimal digits.
    public mutating func add(_ name: String, _ number: UInt64) {
        beginField(name)
        append(number)
        endField(isPlain: true)
    }

    /// Appends a text to the value of the field.
    public mutating func append(_ text: String) { buffer.append(contentsOf: text.utf8) }

    /// Appends a number to the value of the field.
    public mutating func append(_ number: UInt64) { buffer.append(contentsOf: String(number).utf8) }

    // MARK: Sending

    /// Calls `body` with one vector a field; they are valid during the call only.
    borrowing func withVectors(_ body: (UnsafeBufferPointer<iovec>) -> Int32) -> Int32 {
        unsafe buffer.withUnsafeBytes { bytes in
            let vectors = unsafe fields.map { field in
                let start = unsafe bytes.baseAddress?.advanced(by: field.start)
                return unsafe iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: start), iov_len: field.end - field.start)
            }
            return unsafe vectors.withUnsafeBufferPointer { unsafe body($0) }
        }
    }
}
