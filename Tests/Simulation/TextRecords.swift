package import LifecycleCore

// The records of the core as text: each value has the name that the table of its type gives it. The daemon has slots alone; a test
// can look at text, and change it.

extension Engine {
    /// Returns the record of an app as text; nil if it has none.
    package func record(of id: AppID) -> TextRecord? {
        var (core, writer) = (self, TextWriter())
        guard let app = core.latestIndex(of: id), core.code(appAt: app.value, with: &writer) != nil
        else { return nil }
        return writer.record
    }

    /// The record of what concerns several apps as text.
    package var record: TextRecord {
        var (core, writer) = (self, TextWriter())
        core.code(with: &writer)
        return writer.record
    }

    /// The records of all apps that have one, in the order of their names.
    package var records: [TextRecord] { knownApps.keys.sorted().compactMap { record(of: $0) } }

    /// Creates the core of records as text.
    package init(
        restoring machine: TextRecord, apps records: [TextRecord], settings: Settings,
        policy: (AppID) -> Policy?, at now: Instant
    ) {
        self.init()
        restore(TextReader(machine), apps: records.map { TextReader($0) }, settings, policy, at: now)
    }
}

/// A record as text: named values, in the order of their table. A name may come more than once.
package struct TextRecord: Sendable, Equatable {
    /// A named value.
    package struct Field: Sendable, Equatable {
        /// Small letters and hyphens.
        package let name: String
        /// Any text.
        package let value: String

        /// Creates a value with a name.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The values.
    package var fields: [Field]

    /// Creates a record of these values.
    package init(fields: [Field] = []) { self.fields = fields }

    /// The first value of the name.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Returns every value of the name.
    package func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Adds a value; nothing for nil.
    package mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(Field(name: name, value: value)) }
    }
}

/// Adds the values of a table to a record. Only what is set is written.
package struct TextWriter: SavedCoder {
    package private(set) var record = TextRecord()
    package var isReading: Bool { false }

    /// Creates a writer without values.
    package init() {}

    package mutating func flag(_ name: StaticString, _ value: Bool) -> Bool {
        if value { record.add(name.description, "1") }
        return value
    }
    package mutating func number(_ name: StaticString, _ value: UInt64?) -> UInt64? {
        record.add(name.description, value.map { String($0) })
        return value
    }
    package mutating func text(_ name: StaticString, _ value: String?) -> String? {
        record.add(name.description, value)
        return value
    }
    package mutating func item<Item: SavedItem>(_ name: StaticString, _ value: Item?) -> Item? {
        record.add(name.description, value?.text)
        return value
    }
    package mutating func list<Item: SavedItem>(_ name: StaticString, _ values: [Item]) -> [Item] {
        for value in values { record.add(name.description, value.text) }
        return values
    }
}

/// Reads the values of a table from a record, the first of a name; for a list every valid one.
package struct TextReader: SavedCoder {
    private let record: TextRecord
    package var isReading: Bool { true }

    /// Creates a reader of the record.
    package init(_ record: TextRecord) { self.record = record }

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

// MARK: - Parts

extension SavedItem {
    /// The parts with a colon between them. A tilde stands for nil; it, the colon and the percent sign are escaped in a part.
    package var text: String {
        var parts = TextParts()
        _ = Self.code(self, with: &parts)
        return parts.parts.joined(separator: ":")
    }

    /// Creates the value of such a text; nil for any other text.
    package init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var reader = TextParts(isReading: true, parts: parts.map { String(decoding: $0, as: UTF8.self) })
        guard let item = Self.code(nil, with: &reader), reader.parts.isEmpty else { return nil }
        self = item
    }
}

/// Writes the parts of a value as text, or reads them.
private struct TextParts: PartCoder {
    var isReading = false
    var parts: [String] = []

    mutating func text(_ value: String?) -> String? {
        guard isReading else {
            parts.append(value.map { Self.escaped($0) } ?? "~")
            return value
        }
        guard !parts.isEmpty else { return nil }
        let part = parts.removeFirst()
        return part == "~" ? nil : Self.unescaped(part)
    }

    mutating func number(_ value: UInt64?) -> UInt64? {
        let number = text(value.map { String($0) }).flatMap { UInt64($0) }
        return isReading ? number : value
    }

    mutating func choice(_ position: UInt8?, of words: [String]) -> UInt8? {
        let word = text(position.map { words[Int($0)] })
        return isReading ? words.firstIndex { $0 == word }.map { UInt8($0) } : position
    }

    /// The escapes, in the order in which a text is escaped.
    private static let escapes: [(character: Unicode.Scalar, escape: String)] = [
        ("%", "%25"), (":", "%3A"), ("~", "%7E"),
    ]

    private static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let escape = escapes.first(where: { $0.character == scalar })?.escape {
                result += escape.unicodeScalars
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private static func unescaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first {
            if let (character, escape) = escapes.first(where: { rest.starts(with: $0.escape.unicodeScalars) }) {
                result.append(character)
                rest = rest.dropFirst(escape.unicodeScalars.count)
            } else {
                result.append(scalar)
                rest = rest.dropFirst()
            }
        }
        return String(result)
    }
}
