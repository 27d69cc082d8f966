/// Writes the values of a table into a record, or reads them from one.
///
/// The table of a saved type is one generic function with a line for each value; a new value is its last line, because other versions
/// read as far as they know. Each function takes a name and a value, and returns the value that was written or read.
package protocol SavedCoder: ~Copyable {
    /// A Boolean value that indicates whether values are read.
    var isReading: Bool { get }

    /// Writes a flag, or reads it; false without a valid one.
    mutating func flag(_ name: StaticString, _ value: Bool) -> Bool
    /// Writes a number, or reads it; nil without a valid one.
    mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64?
    /// Writes a text, or reads it; nil without a valid one.
    mutating func text(_ name: StaticString, _ value: String?) -> String?
    /// Writes a value, or reads it; nil without a valid one.
    mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item?
    /// Writes values, or reads the valid ones.
    mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item]
    /// Writes the ids of apps, or reads those of apps that are known, each once.
    mutating func apps(_ name: StaticString, _ values: [AppIndex], in table: borrowing AppTable) -> [AppIndex]
}

extension SavedCoder where Self: ~Copyable {
    package mutating func apps(_ name: StaticString, _ values: [AppIndex], in table: borrowing AppTable) -> [AppIndex] {
        var ids: [AppID] = []
        for app in values { ids.append(table.id(of: app)) }
        ids = list(name, ids)
        guard isReading else { return values }
        var known: [AppIndex] = []
        for id in ids {
            if let app = table.index(of: id), !known.contains(app) { known.append(app) }
        }
        return known
    }

    /// Writes or reads an instant.
    @inline(__always)
    package mutating func instant(_ name: StaticString, _ value: Instant?) -> Instant? {
        number(name, value?.microseconds).map { Instant(microseconds: $0) }
    }

    /// Writes or reads a word; nil for one of another version.
    @inline(__always)
    package mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: Word?) -> Word? {
        let word = text(name, value?.rawValue)
        return isReading ? word.flatMap { Word(rawValue: $0) } : value
    }

    // MARK: In place

    // Each sets its argument to the result of the function of the same name.

    @inline(__always)
    package mutating func flag(_ name: StaticString, _ value: inout Bool) { value = flag(name, value) }

    @inline(__always)
    package mutating func number(_ name: StaticString, _ value: inout UInt64?) { value = number(name, value) }

    @inline(__always)
    package mutating func text(_ name: StaticString, _ value: inout String?) { value = text(name, value) }

    @inline(__always)
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        value = item(name, value)
    }

    @inline(__always)
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        values = list(name, values)
    }

    @inline(__always)
    package mutating func instant(_ name: StaticString, _ value: inout Instant?) { value = instant(name, value) }

    @inline(__always)
    package mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: inout Word?) {
        value = word(name, value)
    }

    // Without a valid value, the owner of these keeps its default.

    @inline(__always)
    package mutating func instant(_ name: StaticString, _ value: inout Instant) {
        value = instant(name, value) ?? value
    }

    /// Writes or reads a number that grows by one. There are always some numbers left to count on.
    @inline(__always)
    mutating func counter(_ name: StaticString, _ value: inout UInt64) {
        value = number(name, value) ?? value
        if isReading, value >= 1 << 62 { value = 0 }
    }

    @inline(__always)
    package mutating func reason(_ name: StaticString, _ value: inout Reason) {
        if let word = text(name, value.rawValue), isReading { value = Reason(saved: word) }
    }
}

// MARK: - Text

/// Adds the values of a table to a ``SavedRecord``: the format of version 1 of the state file, which an administrator can read.
/// Only what is set is written.
package struct RecordWriter: SavedCoder {
    package private(set) var record: SavedRecord
    package var isReading: Bool { false }

    /// Creates a writer that adds to a record.
    package init(_ record: SavedRecord = SavedRecord()) { self.record = record }

    package mutating func flag(_ name: StaticString, _ value: Bool) -> Bool {
        if value { record.add(name, "1") }
        return value
    }
    package mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? {
        record.add(name, value)
        return value
    }
    package mutating func text(_ name: StaticString, _ value: String?) -> String? {
        record.add(name, value)
        return value
    }
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        record.add(name, value?.text)
        return value
    }
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        for value in values { record.add(name, value.text) }
        return values
    }
}

/// Reads the values of a table from a ``SavedRecord``, the first of a name; for a list every valid one.
package struct RecordReader: SavedCoder {
    private let record: SavedRecord
    package var isReading: Bool { true }

    package init(_ record: SavedRecord) { self.record = record }

    package mutating func flag(_ name: StaticString, _ value: Bool) -> Bool { record[name.description] == "1" }
    package mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? {
        record[name.description].flatMap { UInt64($0) }
    }
    package mutating func text(_ name: StaticString, _ value: String?) -> String? { record[name.description] }
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        record[name.description].flatMap { Item(text: $0) }
    }
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        record.all(name.description).compactMap { Item(text: $0) }
    }
}
