/// A type that is written as JSON.
public protocol JSONWritable {
    /// Writes one value.
    func write(to json: inout JSONWriter)
}

/// JSON without white space, as it is written.
///
/// The calls must be those of one value: in an object a key before each value, and an end for each beginning.
public struct JSONWriter: ~Copyable {
    /// The text that was written.
    public private(set) var bytes: [UInt8] = []
    /// True while a comma belongs before the next member or element.
    private var needsComma = false

    /// Creates an empty text.
    public init() {}

    /// Begins a value.
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

// MARK: - Objects and arrays

extension JSONWriter {
    /// Begins an object, whose members follow until ``endObject()``.
    public mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    /// Ends the object that was begun last.
    public mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Begins an array, whose elements follow until ``endArray()``.
    public mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    /// Ends the array that was begun last.
    public mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes a name.
    public mutating func key(_ name: String) {
        write(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a name and its value.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    public mutating func field(_ name: String, _ value: some JSONWritable) {
        key(name)
        value.write(to: &self)
    }
}

// MARK: - Values

extension JSONWriter {
    /// Writes a value as its type defines it.
    public mutating func write(_ value: some JSONWritable) {
        value.write(to: &self)
    }

    /// Writes a string, with escape sequences where JSON requires them.
    public mutating func write(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { appendEscaped(byte) }
        bytes.append(UInt8(ascii: "\""))
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
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(0x30 + byte >> 4)
            bytes.append(low < 10 ? 0x30 + low : 0x57 + low)
            return
        default:
            bytes.append(byte)
            return
        }
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(UInt8(ascii: character))
    }

    /// Writes an integer.
    public mutating func write(_ number: Int64) {
        separate()
        bytes.append(contentsOf: String(number).utf8)
    }

    /// Writes `true` or `false`.
    public mutating func write(_ value: Bool) {
        separate()
        bytes.append(contentsOf: (value ? "true" : "false").utf8)
    }

    /// Writes `null`.
    public mutating func writeNull() {
        separate()
        bytes.append(contentsOf: "null".utf8)
    }

    /// Writes a text as it is.
    public mutating func write(_ text: JSONText) {
        separate()
        bytes.append(contentsOf: text.bytes)
    }

    /// Appends the byte that ends a message.
    mutating func appendTerminator() { bytes.append(0) }

    /// Writes a value that is text already, such as a number.
    mutating func append(word: String) {
        separate()
        bytes.append(contentsOf: word.utf8)
    }
}
