import CSystemd
import Glibc

/// The bytes of an entry: its fields, each as `NAME=value` with a space behind it. A buffer for many entries, one at a time.
///
/// It is the one owner of its memory: nothing is allocated while there is room, and no write asks whether another value shares it.
@safe
public nonisolated struct JournalEntry: ~Copyable {
    private struct Field {
        let start: Int
        let value: Int
        let end: Int
        /// A Boolean value that indicates whether the value has visible ASCII only, and no quotation marks.
        let isPlain: Bool
    }

    private var memory: UnsafeMutableRawPointer
    private var capacity = JournalEntry.usualCapacity
    private var end = 0
    private var fields: [Field] = []
    /// The begin of the field that is not ended, and that of its value.
    private var start = 0
    private var value = 0

    /// The room that is kept for later entries.
    private static let usualCapacity = 1024
    private static let usualCount = 16

    /// Creates an entry without fields.
    public init() {
        unsafe memory = .allocate(byteCount: Self.usualCapacity, alignment: 1)
        fields.reserveCapacity(Self.usualCount)
    }

    deinit { unsafe memory.deallocate() }

    /// The number of fields.
    public var count: Int { fields.count }

    /// Calls a closure with the bytes of the entry.
    public borrowing func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(unsafe UnsafeRawBufferPointer(start: memory, count: end).assumingMemoryBound(to: UInt8.self).span)
    }

    /// Calls a closure with the place of each field among the bytes, that of its value, and whether the value is known to have visible
    /// ASCII only, and no quotation marks.
    public borrowing func forEachField(_ body: (_ field: Range<Int>, _ value: Range<Int>, _ isPlain: Bool) -> Void) {
        for field in fields { body(field.start..<field.end, field.value..<field.end, field.isPlain) }
    }

    // MARK: Composing

    /// Removes all fields.
    public mutating func removeAll() {
        end = 0
        if capacity > Self.usualCapacity { move(to: Self.usualCapacity) }
        fields.removeAll(keepingCapacity: fields.capacity <= 2 * Self.usualCount)
    }

    /// Begins a field, whose value is appended until ``endField(isPlain:)``.
    ///
    /// - Parameter name: A name that journald accepts; see ``JournalField/isValid(name:)``.
    public mutating func beginField(_ name: StaticString) {
        start = end
        append(name)
        beginValue()
    }

    private mutating func beginValue() {
        append(UInt8(ascii: "="))
        value = end
    }

    /// Ends the field.
    public mutating func endField(isPlain: Bool = false) {
        fields.append(Field(start: start, value: value, end: end, isPlain: isPlain))
        append(UInt8(ascii: " "))
    }

    /// Adds a field with a text, unless journald does not accept its name.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - text: Any text, of several lines too.
    public mutating func add(named name: String, _ text: String) {
        guard JournalField.isValid(name: name) else { return }
        start = end
        append(name)
        beginValue()
        append(text)
        endField()
    }

    /// Adds a field with a text.
    ///
    /// - Parameters:
    ///   - name: A name that journald accepts; see ``JournalField/isValid(name:)``.
    ///   - text: Any text, of several lines too.
    public mutating func add(_ name: StaticString, _ text: String) {
        beginField(name)
        append(text)
        endField()
    }

    /// Adds a field with a word.
    ///
    /// - Parameters:
    ///   - name: A name that journald accepts; see ``JournalField/isValid(name:)``.
    ///   - word: Visible ASCII without quotation marks.
    public mutating func add(_ name: StaticString, word: String) {
        beginField(name)
        append(word)
        endField(isPlain: true)
    }

    /// Adds a field with a number.
    ///
    /// - Parameters:
    ///   - name: A name that journald accepts; see ``JournalField/isValid(name:)``.
    ///   - number: The value, which is written in decimal digits.
    public mutating func add(_ name: StaticString, _ number: UInt64) {
        beginField(name)
        append(number)
        endField(isPlain: true)
    }

    /// Appends a text to the value of the field.
    public mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append($0.baseAddress, count: $0.count) }
    }

    /// Appends a text to the value of the field.
    public mutating func append(_ text: StaticString) {
        unsafe append(text.utf8Start, count: text.utf8CodeUnitCount)
    }

    /// Appends a number to the value of the field.
    public mutating func append(_ number: UInt64) {
        var digits = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        reserve(digits)
        rest = number
        end += digits
        for position in 1...digits {
            let digit = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            unsafe memory.storeBytes(of: digit, toByteOffset: end - position, as: UInt8.self)
            rest /= 10
        }
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe memory.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
        end += 1
    }

    @inline(__always)
    private mutating func append(_ bytes: UnsafePointer<UInt8>?, count: Int) {
        guard let bytes = unsafe bytes else { return }
        reserve(count)
        unsafe (memory + end).copyMemory(from: bytes, byteCount: count)
        end += count
    }

    @inline(__always)
    private mutating func reserve(_ count: Int) {
        if end + count > capacity { move(to: max(2 * capacity, end + count)) }
    }

    @inline(never)
    private mutating func move(to capacity: Int) {
        let other = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
        unsafe other.copyMemory(from: memory, byteCount: end)
        unsafe memory.deallocate()
        unsafe memory = other
        self.capacity = capacity
    }

    // MARK: Sending

    /// Calls `body` with one vector a field; they are valid during the call only.
    borrowing func withVectors(_ body: (UnsafeBufferPointer<iovec>) -> Int32) -> Int32 {
        unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: fields.count) { vectors in
            for (index, field) in fields.enumerated() {
                let vector = unsafe iovec(iov_base: memory + field.start, iov_len: field.end - field.start)
                unsafe vectors.initializeElement(at: index, to: vector)
            }
            return unsafe body(UnsafeBufferPointer(vectors))
        }
    }
}
