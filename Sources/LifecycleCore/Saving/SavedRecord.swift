/// What is saved under one name: named values, as text that an administrator can read. A name may come more than once.
///
/// It is kept as it is written, ` name=value name=value`, percent-encoded without spaces and line feeds. Unknown names are ignored, and a
/// missing or invalid value counts as the default.
public struct SavedRecord: Sendable, Equatable {
    /// The encoded values, each after a space.
    public private(set) var bytes: [UInt8] = []

    /// Creates a record without values.
    public init() {}

    /// Creates the record that was encoded as these bytes. Words without a name are ignored.
    public init(encoded bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Creates a record of the values that are not nil.
    public init(_ values: KeyValuePairs<StaticString, String?>) {
        for (name, value) in values { add(name, value) }
    }

    /// The first value of the name.
    public subscript(name: StaticString) -> String? {
        words.first { isNamed(name, $0) }.map { String(decoding: value(of: $0), as: UTF8.self) }
    }

    /// Returns every value of the name.
    public func all(_ name: StaticString) -> [String] {
        words.filter { isNamed(name, $0) }.map { String(decoding: value(of: $0), as: UTF8.self) }
    }
}

// MARK: - Writing

extension SavedRecord {
    /// Adds a value; nothing for nil. The name has small letters and hyphens.
    public mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        bytes += Self.encoded(value.utf8)
    }

    /// Adds a value of these bytes.
    mutating func add(_ name: StaticString, _ value: [UInt8]) {
        begin(name)
        bytes += Self.encoded(value)
    }

    private mutating func begin(_ name: StaticString) {
        bytes.append(UInt8(ascii: " "))
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "="))
    }

    /// Returns the bytes of a text without spaces and control characters.
    public static func encoded(_ text: some Collection<UInt8>) -> [UInt8] {
        guard !text.allSatisfy(isPlain) else { return Array(text) }
        return text.flatMap { byte in
            isPlain(byte) ? [byte] : [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > UInt8(ascii: " ") && byte != UInt8(ascii: "%") && byte != 0x7F
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

// MARK: - Reading

extension SavedRecord {
    /// A name and a value, by their places in the bytes.
    struct Word {
        fileprivate let name: Range<Int>
        fileprivate let value: Range<Int>
    }

    /// The words that have a name.
    var words: [Word] {
        var words: [Word] = []
        let text = bytes.span
        var start = 0
        while start < text.count {
            var (end, separator): (Int, Int?) = (start, nil)
            while end < text.count, text[end] != UInt8(ascii: " ") {
                if separator == nil, text[end] == UInt8(ascii: "=") { separator = end }
                end += 1
            }
            if let separator { words.append(Word(name: start..<separator, value: separator + 1..<end)) }
            start = end + 1
        }
        return words
    }

    func isNamed(_ name: StaticString, _ word: Word) -> Bool {
        word.name.count == name.utf8CodeUnitCount && name.withUTF8Buffer { unsafe bytes[word.name].elementsEqual($0) }
    }

    /// Returns the bytes of a value.
    func value(of word: Word) -> ArraySlice<UInt8> { Self.decoded(bytes[word.value]) }

    /// Returns the bytes of a text that was encoded.
    public static func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard text.contains(UInt8(ascii: "%")) else { return text }
        var bytes: ArraySlice<UInt8> = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(number)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
