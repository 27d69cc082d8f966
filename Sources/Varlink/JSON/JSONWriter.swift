/// A type that is written as JSON.
public protocol JSONWritable {
    /// Writes one value.
    func write(to json: inout JSONWriter)
}

/// JSON without white space, as it is written.
///
/// The calls must be those of one value: in an object a key before each value, and an end for each beginning. The writer is the one
/// owner of its memory, so that no write asks whether another value shares it.
@safe
public struct JSONWriter: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    /// A Boolean value that indicates whether a comma belongs before the next member or element.
    private var needsComma = false

    /// Creates an empty text.
    ///
    /// - Parameter capacity: The number of bytes for which the text needs no other memory.
    public init(capacity: Int = 512) {
        self.capacity = max(capacity, 1)
        unsafe memory = .allocate(capacity: max(capacity, 1))
    }

    deinit { unsafe memory.deallocate() }

    /// The text that was written.
    public var bytes: [UInt8] { unsafe [UInt8](UnsafeBufferPointer(start: memory, count: count)) }

    // MARK: Bytes

    @inline(__always)
    private mutating func reserve(_ size: Int) {
        if count + size > capacity { grow(by: size) }
    }

    @inline(never)
    private mutating func grow(by size: Int) {
        capacity = max(2 * capacity, count + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        unsafe larger.initialize(from: memory, count: count)
        unsafe memory.deallocate()
        unsafe memory = larger
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        unsafe memory[count] = byte
        count += 1
    }

    @inline(__always)
    private mutating func append(_ scalar: Unicode.Scalar) { append(UInt8(ascii: scalar)) }

    @inline(__always)
    private mutating func append(_ bytes: UnsafePointer<UInt8>, _ size: Int) {
        reserve(size)
        unsafe (memory + count).initialize(from: bytes, count: size)
        count += size
    }

    @inline(__always)
    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if let start = bytes.baseAddress { unsafe append(start, bytes.count) }
    }

    @inline(__always)
    private mutating func append(literal word: StaticString) {
        unsafe append(word.utf8Start, word.utf8CodeUnitCount)
    }

    /// Begins a value.
    @inline(__always)
    private mutating func separate() {
        if needsComma { append(",") }
        needsComma = true
    }
}

// MARK: - Objects and arrays

extension JSONWriter {
    /// Begins an object.
    public mutating func beginObject() {
        separate()
        append("{")
        needsComma = false
    }

    /// Ends an object.
    public mutating func endObject() {
        append("}")
        needsComma = true
    }

    /// Begins an array.
    public mutating func beginArray() {
        separate()
        append("[")
        needsComma = false
    }

    /// Ends an array.
    public mutating func endArray() {
        append("]")
        needsComma = true
    }

    /// Writes a name that needs no escape sequences.
    public mutating func key(_ name: StaticString) {
        unsafe appendQuoted(name.utf8Start, name.utf8CodeUnitCount, isKey: true)
        needsComma = false
    }

    /// Writes a name.
    public mutating func key(_ name: String) {
        write(name)
        endKey()
    }

    @inline(__always)
    private mutating func endKey() {
        append(":")
        needsComma = false
    }

    /// Begins a string of these bytes, and ends it; a name with its colon.
    @inline(__always)
    private mutating func appendQuoted(_ bytes: UnsafePointer<UInt8>, _ size: Int, isKey: Bool = false) {
        reserve(size + 4)
        let start = unsafe memory + count
        // Without a comma, the quotation mark takes its place.
        unsafe start.pointee = UInt8(ascii: ",")
        let text = unsafe start + (needsComma ? 2 : 1)
        unsafe text[-1] = UInt8(ascii: "\"")
        unsafe text.initialize(from: bytes, count: size)
        unsafe text[size] = UInt8(ascii: "\"")
        if isKey { unsafe text[size + 1] = UInt8(ascii: ":") }
        count = unsafe text + size + (isKey ? 2 : 1) - memory
        needsComma = true
    }

    /// Writes a name and its value.
    ///
    /// - Parameters:
    ///   - name: The name, which needs no escapes.
    ///   - value: The value.
    @inlinable public mutating func field(_ name: StaticString, _ value: some JSONWritable) {
        key(name)
        value.write(to: &self)
    }
}

// MARK: - Values

extension Span<UInt8> {
    /// A Boolean value that indicates whether a string of these bytes needs escape sequences.
    fileprivate var needsEscapes: Bool {
        for index in indices {
            switch self[index] {
            case ..<0x20, "\"", "\\": return true
            default: break
            }
        }
        return false
    }
}

extension JSONWriter {
    /// Writes a value.
    @inlinable public mutating func write(_ value: some JSONWritable) {
        value.write(to: &self)
    }

    /// Writes a string.
    public mutating func write(_ text: String) {
        let content = text.utf8.span
        guard content.needsEscapes else { return writePlain(text) }
        separate()
        append("\"")
        for index in content.indices { appendEscaped(content[index]) }
        append("\"")
    }

    /// Writes a string that needs no escape sequences.
    public mutating func writePlain(_ text: String) {
        unsafe text.utf8.span.withUnsafeBufferPointer { content in
            if let start = content.baseAddress {
                unsafe appendQuoted(start, content.count)
            } else {
                separate()
                append(literal: "\"\"")
            }
        }
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        let character: Unicode.Scalar
        switch byte {
        case "\"": character = "\""
        case "\\": character = "\\"
        case 0x08: character = "b"
        case 0x0c: character = "f"
        case "\n": character = "n"
        case "\r": character = "r"
        case "\t": character = "t"
        case ..<0x20:
            let low = byte & 0xf
            for scalar: Unicode.Scalar in ["\\", "u", "0", "0"] { append(scalar) }
            append(0x30 + byte >> 4)
            append(low < 10 ? 0x30 + low : 0x57 + low)
            return
        default:
            append(byte)
            return
        }
        append("\\")
        append(character)
    }

    /// Writes an integer.
    public mutating func write(_ number: Int64) {
        separate()
        // The digits come from the last to the first.
        var digits: InlineArray<20, UInt8> = .init(repeating: UInt8(ascii: "-"))
        var first = digits.count
        var rest = number.magnitude
        repeat {
            first -= 1
            digits[first] = 0x30 + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        if number < 0 { first -= 1 }
        unsafe digits.span.extracting(first...).withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Writes `true` or `false`.
    public mutating func write(_ value: Bool) {
        separate()
        append(literal: value ? "true" : "false")
    }

    /// Writes null.
    public mutating func writeNull() {
        separate()
        append(literal: "null")
    }

    /// Writes a text as it is.
    public mutating func write(_ text: JSONText) {
        separate()
        unsafe text.bytes.withUnsafeBufferPointer { unsafe append($0) }
    }

    /// Writes a value that is text already, such as a number.
    mutating func append(word: String) {
        separate()
        var word = word
        word.withUTF8 { unsafe append($0) }
    }
}
