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
    var isReading: Bool { true }

    init(_ record: SavedRecord) { self.record = record }

    mutating func flag(_ name: StaticString, _ value: Bool) -> Bool { record[name.description] == "1" }
    mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? {
        record[name.description].flatMap { UInt64($0) }
    }
    mutating func text(_ name: StaticString, _ value: String?) -> String? { record[name.description] }
    mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        record[name.description].flatMap { Item(text: $0) }
    }
    mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        record.all(name.description).compactMap { Item(text: $0) }
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
    init?(text: String) {
        var parts = TextPartReader(text)
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
    private var left: Substring.UTF8View?
    var isReading: Bool { true }

    init(_ text: String) { left = text.utf8[...] }

    /// A Boolean value that indicates whether everything was read. An empty part says nothing.
    var isAtEnd: Bool { left?.isEmpty ?? true }

    mutating func text(_ value: String?) -> String? { text(until: [UInt8(ascii: ":")]) }

    private mutating func text(until separators: [UInt8]) -> String? {
        guard let parts = left, let end = parts.firstIndex(where: separators.contains) else { return rest(nil) }
        left = parts[parts.index(after: end)...]
        return String(decoding: parts[..<end], as: UTF8.self)
    }

    mutating func rest(_ value: String?) -> String? {
        defer { left = nil }
        return left.map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func number(_ value: UInt64?) -> UInt64? { text(nil).flatMap { UInt64($0) } }

    /// Reads a word, behind which the version before has written a space.
    mutating func choice(_ position: UInt8?, of words: [String]) -> UInt8? {
        let word = text(until: [UInt8(ascii: ":"), UInt8(ascii: " ")])
        return words.firstIndex { $0 == word }.map { UInt8($0) }
    }
}
