import LifecycleCore

/// Adds the values of a table to a ``SavedRecord``. Only what is set is written.
nonisolated struct RecordWriter: SavedCoder {
    private(set) var record = SavedRecord()
    var isReading: Bool { false }

    mutating func flag(_ name: StaticString, _ value: Bool) -> Bool {
        if value { record.add(name, "1") }
        return value
    }
    mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? {
        record.add(name, value)
        return value
    }
    mutating func text(_ name: StaticString, _ value: String?) -> String? {
        record.add(name, value)
        return value
    }
    mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        record.add(name, value?.text)
        return value
    }
    mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        for value in values { record.add(name, value.text) }
        return values
    }
}

/// Reads the values of a table from a ``SavedRecord``, the first of a name; for a list every valid one.
nonisolated struct RecordReader: SavedCoder {
    private let record: SavedRecord
    /// The words of the record, of which a table asks for more than there are.
    private let words: [SavedRecord.Word]
    var isReading: Bool { true }

    init(_ record: SavedRecord) {
        self.record = record
        words = Array(record.words)
    }

    private func value(_ name: StaticString) -> ArraySlice<UInt8>? {
        words.first { record.isNamed(name, $0) }.map { record.value(of: $0) }
    }

    mutating func flag(_ name: StaticString, _ value: Bool) -> Bool { text(name, nil) == "1" }
    mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? { text(name, nil).flatMap { UInt64($0) } }
    mutating func text(_ name: StaticString, _ value: String?) -> String? {
        self.value(name).map { String(decoding: $0, as: UTF8.self) }
    }
    mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        self.value(name).flatMap { Item(bytes: $0) }
    }
    mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        var values: [Item] = []
        for word in words where record.isNamed(name, word) {
            if let value = Item(bytes: record.value(of: word)) { values.append(value) }
        }
        return values
    }
}

// MARK: - Parts

nonisolated extension SavedItem {
    /// The value as one line of text: its parts, with a colon between them.
    var text: String {
        var parts = TextPartWriter()
        _ = Self.code(self, with: &parts)
        return parts.parts.joined(separator: ":")
    }

    /// Creates the value of such a text; nil for any other text.
    init?(text: String) { self.init(bytes: Array(text.utf8)[...]) }

    fileprivate init?(bytes: ArraySlice<UInt8>) {
        var parts = TextPartReader(bytes)
        guard let item = Self.code(nil, with: &parts), parts.isAtEnd else { return nil }
        self = item
    }
}

/// Writes the parts of a value as text. All but the last are numbers and words, which contain no separator.
private nonisolated struct TextPartWriter: PartCoder {
    var parts: [String] = []
    var isReading: Bool { false }

    mutating func number(_ value: UInt64?) -> UInt64? {
        parts.append(value.map { String($0) } ?? "")
        return value
    }

    mutating func text(_ value: String?) -> String? {
        parts.append(value ?? "")
        return value
    }

    mutating func choice(_ position: UInt8?, of words: [String]) -> UInt8? {
        _ = text(position.map { words[Int($0)] })
        return position
    }
}

/// Reads the parts of a value from text. A separator is a byte: with what follows it, it may be a part of another character.
private nonisolated struct TextPartReader: PartCoder {
    /// The parts that are not read yet; nil behind the last one.
    private var left: ArraySlice<UInt8>?
    var isReading: Bool { true }

    init(_ text: ArraySlice<UInt8>) { left = text }

    /// A Boolean value that indicates whether everything was read. An empty part says nothing.
    var isAtEnd: Bool { left?.isEmpty ?? true }

    mutating func text(_ value: String?) -> String? {
        guard let parts = left, let end = parts.firstIndex(of: UInt8(ascii: ":")) else { return rest(nil) }
        left = parts[(end + 1)...]
        return String(decoding: parts[..<end], as: UTF8.self)
    }

    mutating func rest(_ value: String?) -> String? {
        defer { left = nil }
        return left.map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func number(_ value: UInt64?) -> UInt64? { text(nil).flatMap { UInt64($0) } }

    mutating func choice(_ position: UInt8?, of words: [String]) -> UInt8? {
        let word = text(nil)
        return words.firstIndex { $0 == word }.map { UInt8($0) }
    }
}
