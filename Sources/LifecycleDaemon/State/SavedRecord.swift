/// One entry of the state file: named values, as text that an administrator can read. A name may come more than once.
///
/// It is kept as it is written, ` name=value name=value`, percent-encoded without spaces and line feeds. Unknown names are ignored, and a
/// missing or invalid value counts as the default, so that an older or a newer version reads the record as far as it can.
nonisolated struct SavedRecord: Sendable, Equatable {
    /// The encoded values, each after a space.
    private(set) var bytes: [UInt8] = []

    /// Creates a record without values.
    init() {}

    /// Creates the record that was encoded as these bytes. Words without a name are ignored.
    init(encoded bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
}

// MARK: - Writing

nonisolated extension SavedRecord {
    /// Adds a value; nothing for nil. The name has small letters and hyphens.
    mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        begin(name)
        append(value)
    }

    /// Adds a number in decimal digits; nothing for nil.
    mutating func add(_ name: StaticString, _ number: UInt64?) { add(name, number.map { String($0) }) }

    private mutating func begin(_ name: StaticString) {
        bytes.append(UInt8(ascii: " "))
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func append(_ value: String) {
        for byte in value.utf8 {
            if Self.isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.hexDigit(byte >> 4), Self.hexDigit(byte & 15)]
            }
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

nonisolated extension SavedRecord {
    /// The first value of the name.
    subscript(name: String) -> String? {
        var position = 0
        return nextValue(of: name, from: &position)
    }

    /// Returns every value of the name.
    func all(_ name: String) -> [String] {
        var values: [String] = []
        var position = 0
        while let value = nextValue(of: name, from: &position) { values.append(value) }
        return values
    }

    /// Returns the next value of the name, and moves the position behind it.
    private func nextValue(of name: String, from position: inout Int) -> String? {
        let text = bytes.span
        let name = name.utf8
        while position < text.count {
            var index = position
            var rest = name.makeIterator()
            var expected = rest.next()
            while let byte = expected, index < text.count, text[index] == byte {
                index += 1
                expected = rest.next()
            }
            let start = index + 1
            let isNamed = expected == nil && index < text.count && text[index] == UInt8(ascii: "=")
            while index < text.count, text[index] != UInt8(ascii: " ") { index += 1 }
            position = index + 1
            if isNamed { return Self.decoded(bytes[start..<index]) }
        }
        return nil
    }

    private static func decoded(_ value: ArraySlice<UInt8>) -> String {
        guard value.contains(UInt8(ascii: "%")) else { return String(decoding: value, as: UTF8.self) }
        var bytes: [UInt8] = []
        var rest = value
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(number)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
