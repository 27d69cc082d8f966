public import Varlink

/// A value of an enumeration of the interface. Varlink's words have no hyphens.
public protocol JSONWord: JSONReadable, JSONWritable, RawRepresentable<String>, CaseIterable {
    /// The word in the interface.
    var word: String { get }
}

extension JSONWord {
    /// The word in the interface.
    public var word: String { rawValue }

    /// Reads a word.
    ///
    /// - Throws: ``JSONError`` if the value is no text, or a word that the type does not have.
    public init(from json: inout JSONReader) throws(JSONError) {
        guard let value = try Self(word: json.readString()) else { throw json.unknownValue() }
        self = value
    }

    /// Creates the value of a word in the interface; nil for a word of another version.
    public init?(word: String) {
        guard let value = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = value
    }

    /// Writes the word.
    public func write(to json: inout JSONWriter) { json.writePlain(word) }
}
