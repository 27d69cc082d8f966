/// One entry of the saved state: named values, as text that a person can read. A name may come more than once.
///
/// Names that are not known are ignored, and a value that is missing or makes no sense counts as the default, so that
/// an older or a newer version finds its way as far as it can.
public struct SavedRecord: Sendable, Equatable {
    /// A named value.
    public struct Field: Sendable, Equatable {
        /// Small letters and hyphens.
        public let name: String
        /// Any text.
        public let value: String

        /// A value with a name.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The values in the order in which they were added.
    public private(set) var fields: [Field]

    /// A record of these values.
    public init(fields: [Field] = []) {
        self.fields = fields
    }

    /// The first value of the name.
    public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Every value of the name.
    public func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Adds a value; nothing for nil.
    public mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(Field(name: name, value: value)) }
    }
}

extension SavedRecord {
    /// A flag is there or not.
    mutating func add(_ name: String, if isSet: Bool) { if isSet { add(name, "1") } }

    mutating func add(_ name: String, _ instant: Instant?) { add(name, instant.map { String($0.microseconds) }) }

    func has(_ name: String) -> Bool { self[name] == "1" }

    func number(_ name: String) -> UInt64? { self[name].flatMap { UInt64($0) } }

    func instant(_ name: String) -> Instant? { number(name).map { Instant(microseconds: $0) } }

    func word<Word: RawRepresentable<String>>(_ name: String, as type: Word.Type = Word.self) -> Word? {
        self[name].flatMap { Word(rawValue: $0) }
    }
}
