/// One entry of the saved state: named values, as text that a person can read. A name may come more than once.
///
/// Unknown names are ignored, and a value that is missing or not valid counts as the default, so that an older or a newer version
/// reads the record as far as it can.
public struct SavedRecord: Sendable, Equatable {
    /// A named value.
    public struct Field: Sendable, Equatable {
        /// Small letters and hyphens.
        public let name: String
        /// Any text.
        public let value: String

        /// Creates a value with a name.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The values in the order in which they were added.
    public private(set) var fields: [Field]

    /// Creates a record of these values.
    public init(fields: [Field] = []) {
        self.fields = fields
    }

    /// The first value of the name.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Returns every value of the name.
    public func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map { $0.value } }

    /// Adds a value; nothing for nil.
    public mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(Field(name: name, value: value)) }
    }

    mutating func add(_ name: String, _ instant: Instant?) { add(name, instant.map { String($0.microseconds) }) }

    func has(_ name: String) -> Bool { self[name] == "1" }

    func number(_ name: String) -> UInt64? { self[name].flatMap { UInt64($0) } }

    func instant(_ name: String) -> Instant? { number(name).map { Instant(microseconds: $0) } }

    func word<Word: RawRepresentable<String>>(_ name: String, as type: Word.Type = Word.self) -> Word? {
        self[name].flatMap { Word(rawValue: $0) }
    }
}

/// One row of the table of a saved type: a name, and how the value is written and read. Whoever adds a value to a saved type adds
/// a row; writing, reading and defaults follow from it.
struct SavedField<Owner>: Sendable {
    let write: @Sendable (Owner, inout SavedRecord) -> Void
    let read: @Sendable (inout Owner, SavedRecord) -> Void

    /// A flag, which is there or not.
    static func flag(
        _ name: String, _ get: @escaping @Sendable (Owner) -> Bool,
        _ set: @escaping @Sendable (inout Owner, Bool) -> Void
    ) -> SavedField {
        SavedField {
            if get($0) { $1.add(name, "1") }
        } read: {
            set(&$0, $1.has(name))
        }
    }

    /// A text; without a valid one, the owner keeps its default.
    static func text(
        _ name: String, _ get: @escaping @Sendable (Owner) -> String?,
        _ set: @escaping @Sendable (inout Owner, String) -> Void
    ) -> SavedField {
        SavedField {
            $1.add(name, get($0))
        } read: { owner, record in
            if let text = record[name] { set(&owner, text) }
        }
    }

    /// An instant.
    static func instant(
        _ name: String, _ get: @escaping @Sendable (Owner) -> Instant?,
        _ set: @escaping @Sendable (inout Owner, Instant) -> Void
    ) -> SavedField {
        number(name, { get($0)?.microseconds }, { set(&$0, Instant(microseconds: $1)) })
    }

    /// A number.
    static func number(
        _ name: String, _ get: @escaping @Sendable (Owner) -> UInt64?,
        _ set: @escaping @Sendable (inout Owner, UInt64) -> Void
    ) -> SavedField {
        SavedField {
            $1.add(name, get($0).map { String($0) })
        } read: { owner, record in
            if let number = record.number(name) { set(&owner, number) }
        }
    }

    /// Several texts of one name.
    static func list(
        _ name: String, _ get: @escaping @Sendable (Owner) -> [String],
        _ set: @escaping @Sendable (inout Owner, [String]) -> Void
    ) -> SavedField {
        SavedField {
            for text in get($0) { $1.add(name, text) }
        } read: {
            set(&$0, $1.all(name))
        }
    }
}

extension [SavedField<AppMachine>] {
    func write(_ machine: AppMachine, to record: inout SavedRecord) {
        for field in self { field.write(machine, &record) }
    }

    func read(_ machine: inout AppMachine, from record: SavedRecord) {
        for field in self { field.read(&machine, record) }
    }
}
