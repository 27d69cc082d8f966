import FoundationEssentials

/// The members of calls and replies.
enum EnvelopeKey: String, CodingKey {
    case method, more, oneway, upgrade, parameters, continues, error
}

/// The parameters of a message, which are decoded when their type is known: from what was parsed for the rest of the message.
///
/// Absent, null and `{}` are the same.
struct EnvelopeParameters {
    private let envelope: KeyedDecodingContainer<EnvelopeKey>
    let arePresent: Bool

    /// Finds out whether a message has parameters, and that they are an object.
    init(in envelope: KeyedDecodingContainer<EnvelopeKey>) throws {
        self.envelope = envelope
        arePresent = try envelope.contains(.parameters) && !envelope.decodeNil(forKey: .parameters)
        if arePresent { _ = try envelope.nestedContainer(keyedBy: FieldName.self, forKey: .parameters) }
    }

    /// Names that their type does not know are refused where the type lists its names.
    func decode<Parameters: Decodable>(as type: Parameters.Type = Parameters.self) throws -> Parameters {
        guard arePresent else { return try JSONDecoder().decode(type, from: Data("{}".utf8)) }
        if let type = type as? any NamedFields.Type { try refuseUnknown(type.fieldNames) }
        return try envelope.decode(type, forKey: .parameters)
    }

    private func refuseUnknown(_ known: [String]) throws {
        let fields = try envelope.nestedContainer(keyedBy: FieldName.self, forKey: .parameters)
        // They come in any order; the same call is to have the same answer.
        let unknown = fields.allKeys.filter { !known.contains($0.stringValue) }
        if let field = unknown.min(by: { $0.stringValue < $1.stringValue }) {
            throw DecodingError.dataCorruptedError(
                forKey: field, in: fields, debugDescription: "there is no such parameter")
        }
    }
}

/// A member's name, whatever it is.
struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        return nil
    }
}
