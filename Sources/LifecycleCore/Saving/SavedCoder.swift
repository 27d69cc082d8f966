/// Writes the values of a table into a record, or reads them from one.
///
/// The table of a saved type is one function with a line for each value. Each function takes a name and a value, and returns the value
/// that was written or read: of a record the first value of the name, for a list every valid one.
package struct SavedCoder {
    package let isReading: Bool
    /// The record that is written or read. Only what is set is written.
    package private(set) var record: SavedRecord
    /// The words of a record that is read.
    private let words: [SavedRecord.Word]

    /// Creates a writer.
    package init() { (isReading, record, words) = (false, SavedRecord(), []) }

    /// Creates a reader of a record.
    package init(reading record: SavedRecord) { (isReading, self.record, words) = (true, record, record.words) }

    private func value(_ name: StaticString) -> ArraySlice<UInt8>? {
        words.first { record.isNamed(name, $0) }.map { record.value(of: $0) }
    }

    /// Writes a flag, or reads it; false without a valid one.
    package mutating func flag(_ name: StaticString, _ value: Bool) -> Bool {
        if isReading { return text(name, nil) == "1" }
        if value { record.add(name, "1") }
        return value
    }

    /// Writes a number, or reads it; nil without a valid one.
    package mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? {
        let text = text(name, value.map { String($0) })
        return isReading ? text.flatMap { UInt64($0) } : value
    }

    /// Writes a text, or reads it; nil without one.
    package mutating func text(_ name: StaticString, _ value: String?) -> String? {
        if isReading { return self.value(name).map { String(decoding: $0, as: UTF8.self) } }
        record.add(name, value)
        return value
    }

    /// Writes a value, or reads it; nil without a valid one.
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        if isReading { return self.value(name).flatMap { Item(bytes: $0) } }
        if let value { record.add(name, value.bytes) }
        return value
    }

    /// Writes values, or reads the valid ones.
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        guard isReading else {
            for value in values { record.add(name, value.bytes) }
            return values
        }
        return words.lazy.filter { [record] in record.isNamed(name, $0) }.compactMap { [record] in
            Item(bytes: record.value(of: $0))
        }
    }

    /// Writes the ids of apps, or reads those of apps that are known, each once.
    mutating func apps(_ name: StaticString, _ values: [AppIndex], in table: AppTable) -> [AppIndex] {
        let ids = list(name, values.map { table.id(of: $0) })
        guard isReading else { return values }
        var known: [AppIndex] = []
        for id in ids { if let app = table.index(of: id) { known.appendOnce(app) } }
        return known
    }

    /// Writes or reads an instant.
    package mutating func instant(_ name: StaticString, _ value: Instant?) -> Instant? {
        number(name, value?.microseconds).map { Instant(microseconds: $0) }
    }

    /// Writes or reads a word; nil for an unknown one.
    package mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: Word?) -> Word? {
        let word = text(name, value?.rawValue)
        return isReading ? word.flatMap { Word(rawValue: $0) } : value
    }

    // MARK: In place

    // Each sets its argument to the result of the function of the same name.

    package mutating func flag(_ name: StaticString, _ value: inout Bool) { value = flag(name, value) }
    package mutating func number(_ name: StaticString, _ value: inout UInt64?) { value = number(name, value) }
    package mutating func text(_ name: StaticString, _ value: inout String?) { value = text(name, value) }
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        value = item(name, value)
    }
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        values = list(name, values)
    }
    package mutating func instant(_ name: StaticString, _ value: inout Instant?) { value = instant(name, value) }
    package mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: inout Word?) {
        value = word(name, value)
    }

    // Without a valid value, the owner of these keeps its default.

    package mutating func instant(_ name: StaticString, _ value: inout Instant) {
        value = instant(name, value) ?? value
    }

    /// Writes or reads a number that grows by one. There are always some numbers left to count on.
    mutating func counter(_ name: StaticString, _ value: inout UInt64) {
        value = number(name, value) ?? value
        if isReading, value >= 1 << 62 { value = 0 }
    }

    mutating func reason(_ name: StaticString, _ value: inout Reason) {
        if let word = text(name, value.rawValue), isReading { value = Reason(saved: word) }
    }
}

// MARK: - Parts

/// A value with parts.
package protocol SavedItem {
    /// Writes the parts of a value, or reads them: the table of the type.
    ///
    /// - Parameters:
    ///   - item: The value to write; nil to read one.
    ///   - parts: The writer or the reader, at the first part.
    /// - Returns: The value that was written or read; nil for parts without meaning.
    static func code(_ item: Self?, with parts: inout PartCoder) -> Self?
}

extension SavedItem {
    /// The value as text: its parts, with a colon between them.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    fileprivate var bytes: [UInt8] {
        var parts = PartCoder()
        _ = Self.code(self, with: &parts)
        return parts.bytes
    }

    /// Creates the value of such a text; nil for any other text.
    package init?(text: String) { self.init(bytes: Array(text.utf8)[...]) }

    fileprivate init?(bytes: ArraySlice<UInt8>) {
        var parts = PartCoder(reading: bytes)
        guard let item = Self.code(nil, with: &parts), parts.isAtEnd else { return nil }
        self = item
    }
}

/// Writes the parts of a value in the order of the table of its type, or reads them.
///
/// A tilde stands for nil. It, the colon and the backslash have a backslash before them in a text that is not the last part. Each part that
/// is read is nil for nothing, and for bytes without meaning.
package struct PartCoder {
    package let isReading: Bool
    /// The parts that were written.
    fileprivate private(set) var bytes: [UInt8] = []
    private var isFirst = true
    /// The parts that are not read yet; nil after the last one.
    private var left: ArraySlice<UInt8>?

    fileprivate init() { isReading = false }

    fileprivate init(reading bytes: ArraySlice<UInt8>) { (isReading, left) = (true, bytes) }

    /// True if everything was read. An empty part says nothing.
    fileprivate var isAtEnd: Bool { left?.isEmpty ?? true }

    private static let special = [UInt8(ascii: ":"), UInt8(ascii: "~"), UInt8(ascii: "\\")]

    /// Writes or reads a text.
    package mutating func text(_ value: String?) -> String? {
        if isReading { return read() }
        begin()
        guard let value else {
            bytes.append(UInt8(ascii: "~"))
            return nil
        }
        for byte in value.utf8 {
            if Self.special.contains(byte) { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        return value
    }

    private mutating func begin() {
        if !isFirst { bytes.append(UInt8(ascii: ":")) }
        isFirst = false
    }

    /// Reads a part. A separator is a byte: with what follows it, it may be a part of another character.
    private mutating func read() -> String? {
        guard var rest = left else { return nil }
        var text: [UInt8] = []
        var isNil = rest.first == UInt8(ascii: "~")
        left = nil
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ":") {
                left = rest
                break
            }
            text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
            isNil = isNil && text.count == 1
        }
        return isNil ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Writes or reads the last part as it is; for nil there is none.
    package mutating func rest(_ value: String?) -> String? {
        if isReading {
            defer { left = nil }
            return left.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let value else { return nil }
        begin()
        bytes += value.utf8
        return value
    }

    /// Writes or reads a number.
    package mutating func number(_ value: UInt64?) -> UInt64? {
        let text = text(value.map { String($0) })
        return isReading ? text.flatMap { UInt64($0) } : value
    }

    /// Writes or reads a word; nil for an unknown one.
    package mutating func word<Word: RawRepresentable<String>>(_ value: Word?) -> Word? {
        let word = text(value?.rawValue)
        return isReading ? word.flatMap { Word(rawValue: $0) } : value
    }

    /// Writes or reads an instant.
    mutating func instant(_ value: Instant?) -> Instant? {
        number(value?.microseconds).map { Instant(microseconds: $0) }
    }

    /// Writes or reads a reason as the last part.
    mutating func lastReason(_ value: Reason?) -> Reason? {
        let word = rest(value?.rawValue)
        return isReading ? word.map { Reason(saved: $0) } : value
    }

    /// Writes or reads up to three texts as the last parts.
    mutating func texts(_ values: [String]) -> [String] {
        guard isReading else { return values.compactMap { text($0) } }
        var read: [String] = []
        while read.count < 3, let value = text(nil) { read.append(value) }
        return read
    }
}
