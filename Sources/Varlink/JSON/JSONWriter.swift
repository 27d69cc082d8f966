import Bytes

/// A type that is written as JSON.
public protocol JSONWritable {
    /// Writes one value.
    func write(to json: inout JSONWriter)
}

/// JSON without white space, as it is written.
///
/// The calls must be those of one value: in an object a key before each value, and an end for each beginning.
public struct JSONWriter: ~Copyable {
    private var buffer: ByteBuffer
    /// A Boolean value that indicates whether a comma belongs before the next member or element.
    private var needsComma = false

    /// Creates an empty text.
    ///
    /// - Parameter capacity: The number of bytes for which the text needs no other memory.
    public init(capacity: Int = 512) { buffer = ByteBuffer(capacity: capacity) }

    /// The text that was written.
    public var bytes: [UInt8] { buffer.array }

    /// Begins a value.
    @inline(__always)
    private mutating func separate() {
        if needsComma { buffer.append(ascii: ",") }
        needsComma = true
    }
}

// MARK: - Objects and arrays

extension JSONWriter {
    /// Begins an object, whose members follow until ``endObject()``.
    public mutating func beginObject() {
        separate()
        buffer.append(ascii: "{")
        needsComma = false
    }

    /// Ends the object that was begun last.
    public mutating func endObject() {
        buffer.append(ascii: "}")
        needsComma = true
    }

    /// Begins an array, whose elements follow until ``endArray()``.
    public mutating func beginArray() {
        separate()
        buffer.append(ascii: "[")
        needsComma = false
    }

    /// Ends the array that was begun last.
    public mutating func endArray() {
        buffer.append(ascii: "]")
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
        buffer.append(ascii: ":")
        needsComma = false
    }

    /// Begins a string of these bytes, and ends it; a name with its colon.
    @inline(__always)
    private mutating func appendQuoted(_ bytes: UnsafePointer<UInt8>, _ size: Int, isKey: Bool = false) {
        // Without a comma, the quotation mark takes its place.
        let prefix = needsComma ? 2 : 1
        unsafe buffer.append(atMost: size + 4) { start in
            unsafe start.pointee = UInt8(ascii: ",")
            let text = unsafe start + prefix
            unsafe text[-1] = UInt8(ascii: "\"")
            unsafe text.initialize(from: bytes, count: size)
            unsafe text[size] = UInt8(ascii: "\"")
            if isKey { unsafe text[size + 1] = UInt8(ascii: ":") }
            return unsafe text + size + (isKey ? 2 : 1)
        }
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
    /// Writes a value as its type defines it.
    @inlinable public mutating func write(_ value: some JSONWritable) {
        value.write(to: &self)
    }

    /// Writes a string, with escape sequences where JSON requires them.
    public mutating func write(_ text: String) {
        let content = text.utf8.span
        guard content.needsEscapes else { return writePlain(text) }
        separate()
        buffer.append(ascii: "\"")
        for index in content.indices { appendEscaped(content[index]) }
        buffer.append(ascii: "\"")
    }

    /// Writes a string that needs no escape sequences.
    public mutating func writePlain(_ text: String) {
        unsafe text.utf8.span.withUnsafeBufferPointer { content in
            if let start = content.baseAddress {
                unsafe appendQuoted(start, content.count)
            } else {
                separate()
                buffer.append(literal: "\"\"")
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
            for scalar: Unicode.Scalar in ["\\", "u", "0", "0"] { buffer.append(ascii: scalar) }
            buffer.append(0x30 + byte >> 4)
            buffer.append(low < 10 ? 0x30 + low : 0x57 + low)
            return
        default:
            buffer.append(byte)
            return
        }
        buffer.append(ascii: "\\")
        buffer.append(ascii: character)
    }

    /// Writes an integer.
    public mutating func write(_ number: Int64) {
        separate()
        buffer.append(DecimalDigits(number))
    }

    /// Writes `true` or `false`.
    public mutating func write(_ value: Bool) {
        separate()
        buffer.append(literal: value ? "true" : "false")
    }

    /// Writes `null`.
    public mutating func writeNull() {
        separate()
        buffer.append(literal: "null")
    }

    /// Writes a text as it is.
    public mutating func write(_ text: JSONText) {
        separate()
        unsafe text.bytes.withUnsafeBufferPointer { unsafe buffer.append($0) }
    }

    /// Appends the byte that ends a message.
    mutating func appendTerminator() { buffer.append(0) }

    /// Writes a value that is text already, such as a number.
    mutating func append(word: String) {
        separate()
        buffer.append(word)
    }
}
