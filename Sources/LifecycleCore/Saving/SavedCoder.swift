/// Writes the values of a table into a record, or reads them from one.
///
/// The table of a saved type is one generic function with a line for each value. Writing, reading and the defaults follow from it.
/// A new value is the last line of its table: a record without it ends before, and a version that does not know it stops there.
package protocol SavedCoder: ~Copyable {
    /// A Boolean value that indicates whether values are read.
    var isReading: Bool { get }

    /// Writes a flag, or reads it; false without a valid one.
    mutating func flag(_ name: StaticString, _ value: inout Bool)
    /// Writes a number, or reads it; nil without a valid one.
    mutating func number(_ name: StaticString, _ value: inout UInt64?)
    /// Writes a text, or reads it; nil without a valid one.
    mutating func text(_ name: StaticString, _ value: inout String?)
    /// Writes a value, or reads it; nil without a valid one.
    mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?)
    /// Writes values, or reads the valid ones.
    mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item])
    /// Writes the ids of apps, or reads those of apps that are known, each once.
    mutating func apps(_ name: StaticString, _ values: inout [AppIndex], in table: borrowing AppTable)
}

extension SavedCoder where Self: ~Copyable {
    /// Writes the ids of apps, or reads those of apps that are known, each once.
    package mutating func apps(_ name: StaticString, _ values: inout [AppIndex], in table: borrowing AppTable) {
        var ids: [AppID] = []
        for app in values { ids.append(table.id(of: app)) }
        list(name, &ids)
        guard isReading else { return }
        values = []
        for id in ids {
            if let app = table.index(of: id), !values.contains(app) { values.append(app) }
        }
    }

    /// Writes or reads an instant.
    @inline(__always)
    package mutating func instant(_ name: StaticString, _ value: inout Instant?) {
        var microseconds = value?.microseconds
        number(name, &microseconds)
        if isReading { value = microseconds.map { Instant(microseconds: $0) } }
    }

    /// Writes or reads an instant. Without a valid one, the owner keeps its default.
    @inline(__always)
    package mutating func instant(_ name: StaticString, _ value: inout Instant) {
        var microseconds: UInt64? = value.microseconds
        number(name, &microseconds)
        if isReading, let microseconds { value = Instant(microseconds: microseconds) }
    }

    /// Writes or reads a number. Without a valid one, the owner keeps its default.
    @inline(__always)
    mutating func number(_ name: StaticString, _ value: inout UInt64) {
        var number: UInt64? = value
        self.number(name, &number)
        if isReading, let number { value = number }
    }

    /// Writes or reads a reason. Without one, the owner keeps its default.
    @inline(__always)
    package mutating func reason(_ name: StaticString, _ value: inout Reason) {
        var word: String? = value.rawValue
        text(name, &word)
        if isReading, let word { value = Reason(saved: word) }
    }

    /// Writes or reads a word; nil for one of another version.
    @inline(__always)
    package mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: inout Word?) {
        var word = value?.rawValue
        text(name, &word)
        if isReading { value = word.flatMap { Word(rawValue: $0) } }
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

    package mutating func flag(_ name: StaticString, _ value: inout Bool) { if value { record.add(name, "1") } }
    package mutating func number(_ name: StaticString, _ value: inout UInt64?) { record.add(name, value) }
    package mutating func text(_ name: StaticString, _ value: inout String?) { record.add(name, value) }
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        record.add(name, value?.text)
    }
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        for value in values { record.add(name, value.text) }
    }
}

/// Reads the values of a table from a ``SavedRecord``, the first of a name; for a list every valid one.
package struct RecordReader: SavedCoder {
    private let record: SavedRecord
    package var isReading: Bool { true }

    package init(_ record: SavedRecord) { self.record = record }

    package mutating func flag(_ name: StaticString, _ value: inout Bool) { value = record[name.description] == "1" }
    package mutating func number(_ name: StaticString, _ value: inout UInt64?) {
        value = record[name.description].flatMap { UInt64($0) }
    }
    package mutating func text(_ name: StaticString, _ value: inout String?) { value = record[name.description] }
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        value = record[name.description].flatMap { Item(text: $0) }
    }
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        values = record.all(name.description).compactMap { Item(text: $0) }
    }
}
