/// Writes the values of a table into a record, or reads them from one.
///
/// The table of a saved type is one generic function with a line for each value. Writing, reading and the defaults follow from it.
/// A new value is the last line of its table: a record without it ends before, and a version that does not know it stops there.
public protocol SavedCoder: ~Copyable {
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
}

/// A value with parts.
public protocol SavedItem {
    /// The value as one line of text.
    var text: String { get }
    /// Creates the value of such a text; nil for any other text.
    init?(text: String)

    func write(to slot: inout SlotWriter)
    /// Creates the value that was written; nil for one without meaning.
    init?(from slot: inout SlotReader)
}

extension SavedCoder where Self: ~Copyable {
    /// Writes or reads an instant.
    @inline(__always)
    public mutating func instant(_ name: StaticString, _ value: inout Instant?) {
        var microseconds = value?.microseconds
        number(name, &microseconds)
        if isReading { value = microseconds.map { Instant(microseconds: $0) } }
    }

    /// Writes or reads an instant. Without a valid one, the owner keeps its default.
    @inline(__always)
    public mutating func instant(_ name: StaticString, _ value: inout Instant) {
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
    public mutating func reason(_ name: StaticString, _ value: inout Reason) {
        var word: String? = value.rawValue
        text(name, &word)
        if isReading, let word { value = Reason(saved: word) }
    }

    /// Writes or reads a word; nil for one of another version.
    @inline(__always)
    public mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: inout Word?) {
        var word = value?.rawValue
        text(name, &word)
        if isReading { value = word.flatMap { Word(rawValue: $0) } }
    }
}

// MARK: - Text

/// Adds the values of a table to a ``SavedRecord``: the format of version 1 of the state file, which an administrator can read.
public struct RecordWriter: SavedCoder {
    /// The record so far.
    public private(set) var record: SavedRecord
    /// False.
    public var isReading: Bool { false }

    /// Creates a writer that adds to a record.
    public init(_ record: SavedRecord = SavedRecord()) { self.record = record }

    /// Adds the flag if it is set.
    public mutating func flag(_ name: StaticString, _ value: inout Bool) { if value { record.add(name, "1") } }
    /// Adds the number, if there is one.
    public mutating func number(_ name: StaticString, _ value: inout UInt64?) { record.add(name, value) }
    /// Adds the text, if there is one.
    public mutating func text(_ name: StaticString, _ value: inout String?) { record.add(name, value) }
    /// Adds the text of the value, if there is one.
    public mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        record.add(name, value?.text)
    }
    /// Adds the text of each value.
    public mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        for value in values { record.add(name, value.text) }
    }
}

/// Reads the values of a table from a ``SavedRecord``.
public struct RecordReader: SavedCoder {
    private let record: SavedRecord
    /// True.
    public var isReading: Bool { true }

    /// Creates a reader of a record.
    public init(_ record: SavedRecord) { self.record = record }

    /// Reads the flag of the name.
    public mutating func flag(_ name: StaticString, _ value: inout Bool) { value = record.has(name.description) }
    /// Reads the first number of the name.
    public mutating func number(_ name: StaticString, _ value: inout UInt64?) {
        value = record.number(name.description)
    }
    /// Reads the first text of the name.
    public mutating func text(_ name: StaticString, _ value: inout String?) { value = record[name.description] }
    /// Reads the first value of the name.
    public mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item?) {
        value = record[name.description].flatMap { Item(text: $0) }
    }
    /// Reads every valid value of the name.
    public mutating func list<Item: SavedItem>(_ name: StaticString, _ values: inout [Item]) {
        values = record.all(name.description).compactMap { Item(text: $0) }
    }
}
