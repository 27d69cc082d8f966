/// Writes the values of a table into a record, or reads them from one.
///
/// The table of a saved type is one generic function with a line for each value. Each function takes a name and a value, and returns the
/// value that was written or read.
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

    package mutating func reason(_ name: StaticString, _ value: inout Reason) {
        if let word = text(name, value.rawValue), isReading { value = Reason(saved: word) }
    }
}

// MARK: - Parts

/// Writes the parts of a value in the order of the table of its type, or reads them.
///
/// Each part is nil for nothing, and after bytes without meaning.
package protocol PartCoder: ~Copyable {
    /// A Boolean value that indicates whether parts are read.
    var isReading: Bool { get }

    /// Writes or reads a number.
    mutating func number(_ value: UInt64?) -> UInt64?
    /// Writes or reads a text.
    mutating func text(_ value: String?) -> String?
    /// Writes or reads the last part, which a coder of text need not delimit.
    mutating func rest(_ value: String?) -> String?
    /// Writes or reads a byte.
    mutating func byte(_ value: UInt8?) -> UInt8?
    /// Writes or reads the position of a word; nil for none of the words.
    mutating func choice(_ position: UInt8?, of words: [String]) -> UInt8?
}

extension PartCoder where Self: ~Copyable {
    // A slot has texts with their sizes, and positions of words; a coder of text has numbers for bytes.

    package mutating func rest(_ value: String?) -> String? { text(value) }

    package mutating func byte(_ value: UInt8?) -> UInt8? {
        number(value.map { UInt64($0) }).flatMap { UInt8(exactly: $0) }
    }

    package mutating func choice(_ position: UInt8?, of words: [String]) -> UInt8? { byte(position) }

    /// Writes or reads a word; nil for an unknown one.
    package mutating func word<Word: RawRepresentable<String>>(_ value: Word?) -> Word? {
        let word = text(value?.rawValue)
        return isReading ? word.flatMap { Word(rawValue: $0) } : value
    }

    /// Writes or reads a reason as the last part.
    mutating func lastReason(_ value: Reason?) -> Reason? {
        let word = rest(value?.rawValue)
        return isReading ? word.map { Reason(saved: $0) } : value
    }

    /// Writes or reads an instant, which a complete value has.
    mutating func instant(_ value: Instant?) -> Instant? {
        number(value?.microseconds).map { Instant(microseconds: $0) }
    }

    /// Writes or reads an instant that a complete value may lack.
    mutating func optionalInstant(_ value: Instant?) -> Instant? {
        byte(value == nil ? 0 : 1) == 1 ? instant(value) : nil
    }

    /// Writes or reads up to three texts as the last parts.
    mutating func texts(_ values: [String]) -> [String] {
        var coded: [String] = []
        for position in 0..<3 {
            let value = position < values.count ? values[position] : nil
            guard isReading || value != nil, let value = text(value) else { break }
            coded.append(value)
        }
        return coded
    }
}

/// A value with parts.
package protocol SavedItem {
    /// Writes the parts of a value, or reads them: the table of the type.
    ///
    /// - Parameters:
    ///   - item: The value to write; nil to read one.
    ///   - parts: The writer or the reader, at the first part.
    /// - Returns: The value that was written or read; nil for parts without meaning.
    static func code(_ item: Self?, with parts: inout some PartCoder & ~Copyable) -> Self?
}
