/// A type that is written as JSON.
public protocol JSONWritable {
    /// Writes one value.
    func write(to json: inout JSONWriter)
}

/// JSON without white space, as it is written.
///
/// The calls must be those of one value: in an object a key before each value, and an end for each beginning.
public struct JSONWriter {
    /// The text that was written.
    public internal(set) var bytes: [UInt8]

    /// Creates an empty text.
    ///
    /// - Parameter capacity: The number of bytes for which the text needs no other memory.
    public init(capacity: Int = 512) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Makes the text empty, and keeps its memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        bytes.append(UInt8(ascii: scalar))
    }

    /// A Boolean value that indicates whether a comma belongs between two members or elements: the byte before tells.
    private var needsComma: Bool {
        switch bytes.last {
        case nil: false
        case .some("{"), .some("["), .some(":"): false
        default: true
        }
    }

    private mutating func separate() {
        if needsComma { append(",") }
    }
}

// MARK: - Objects and arrays

extension JSONWriter {
    /// Begins an object.
    public mutating func beginObject() {
        separate()
        append("{")
    }

    /// Ends an object.
    public mutating func endObject() {
        append("}")
    }

    /// Begins an array.
    public mutating func beginArray() {
        separate()
        append("[")
    }

    /// Ends an array.
    public mutating func endArray() {
        append("]")
    }

    /// Writes a name that needs no escape sequences.
    public mutating func key(_ name: StaticString) {
        let (hasComma, size) = (needsComma, name.utf8CodeUnitCount)
        bytes.append(addingCapacity: size + 4) { output in
            if hasComma { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            unsafe output.append(name.utf8Start, size)
            output.append(UInt8(ascii: "\""))
            output.append(UInt8(ascii: ":"))
        }
    }

    /// Writes a name.
    public mutating func key(_ name: String) {
        write(name)
        append(":")
    }

    /// Writes a name and its value.
    @inlinable public mutating func field(_ name: StaticString, _ value: some JSONWritable) {
        key(name)
        value.write(to: &self)
    }
}

// MARK: - Values

extension JSONWriter {
    /// Writes a value.
    @inlinable public mutating func write(_ value: some JSONWritable) {
        value.write(to: &self)
    }

    /// Writes a string.
    public mutating func write(_ text: String) {
        let utf8 = text.utf8
        let content = utf8.span
        guard needsEscapes(content) else { return write(plain: content) }
        separate()
        append("\"")
        for byte in utf8 { appendEscaped(byte) }
        append("\"")
    }

    private mutating func write(plain content: Span<UInt8>) {
        let hasComma = needsComma
        bytes.append(addingCapacity: content.count + 3) { output in
            if hasComma { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            output.append(content)
            output.append(UInt8(ascii: "\""))
        }
    }

    private func needsEscapes(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            switch text[index] {
            case ..<0x20, "\"", "\\": return true
            default: break
            }
        }
        return false
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
            bytes.append(0x30 + byte >> 4)
            bytes.append(low < 10 ? 0x30 + low : 0x57 + low)
            return
        default:
            bytes.append(byte)
            return
        }
        append("\\")
        append(character)
    }

    /// Writes an integer.
    public mutating func write(_ number: Int64) {
        separate()
        if number < 0 { append("-") }
        var first = bytes.count
        var rest = number.magnitude
        repeat {
            bytes.append(0x30 + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        // The digits were written from the last to the first.
        var last = bytes.count - 1
        while first < last {
            bytes.swapAt(first, last)
            first += 1
            last -= 1
        }
    }

    /// Writes `true` or `false`.
    public mutating func write(_ value: Bool) {
        append(literal: value ? "true" : "false")
    }

    /// Writes null.
    public mutating func writeNull() {
        append(literal: "null")
    }

    /// Writes a text as it is.
    public mutating func write(_ text: JSONText) {
        separate()
        bytes.append(contentsOf: text.bytes)
    }

    private mutating func append(literal word: StaticString) {
        let (hasComma, size) = (needsComma, word.utf8CodeUnitCount)
        bytes.append(addingCapacity: size + 1) { output in
            if hasComma { output.append(UInt8(ascii: ",")) }
            unsafe output.append(word.utf8Start, size)
        }
    }

    /// Writes a value that is text already, such as a number.
    mutating func append(word: String) {
        separate()
        bytes.append(contentsOf: word.utf8)
    }
}

extension OutputSpan<UInt8> {
    /// Appends bytes, for which there is room.
    fileprivate mutating func append(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return }
            unsafe append(start, source.count)
        }
    }

    /// Appends so many bytes, for which there is room.
    fileprivate mutating func append(_ bytes: UnsafePointer<UInt8>, _ size: Int) {
        precondition(size <= freeCapacity)
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            guard let target = buffer.baseAddress else { return }
            unsafe (target + count).initialize(from: bytes, count: size)
            count += size
        }
    }
}
