import FoundationEssentials

/// JSON between NULs.
enum WireFormat {
    /// The message with its terminating NUL, or nil when the value has no JSON form (a number that is not finite).
    static func encode(_ value: some Encodable) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(value) else { return nil }
        var message = [UInt8]()
        message.reserveCapacity(text.count + 1)
        message.append(contentsOf: text)
        message.append(0)
        return message
    }

    /// The envelope of a message, after the message was found fit to be parsed.
    static func decodeEnvelope<Envelope: Decodable>(
        _ type: Envelope.Type, from message: ArraySlice<UInt8>, nesting limit: Int
    ) throws(ProtocolViolation) -> Envelope {
        guard !Nesting.exceeds(limit, in: message) else { throw .nestedTooDeeply(limit: limit) }
        // The parser would go by a byte order mark, and would find bad UTF-8 only in the strings it is asked for.
        guard String(validating: message, as: UTF8.self) != nil else { throw .malformed }
        do {
            return try JSONDecoder().decode(Envelope.self, from: Data(message))
        } catch {
            throw .malformed
        }
    }

    /// The parameters of a message whose envelope was accepted. Absent, null and `{}` are the same.
    static func decodeParameters<Parameters: Decodable>(
        _ type: Parameters.Type, of message: ArraySlice<UInt8>, present: Bool
    ) throws -> Parameters {
        let decoder = JSONDecoder()
        guard present else { return try decoder.decode(Parameters.self, from: Data("{}".utf8)) }
        return try decoder.decode(ParametersMember<Parameters>.self, from: Data(message)).parameters
    }
}

/// Finds out whether a message has parameters, and that they are an object.
struct ParametersPresence: Decodable {
    let isPresent: Bool

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: EnvelopeKey.self)
        let isAbsent = try !container.contains(.parameters) || container.decodeNil(forKey: .parameters)
        isPresent = !isAbsent
        if isPresent { _ = try container.nestedContainer(keyedBy: FieldName.self, forKey: .parameters) }
    }
}

enum EnvelopeKey: String, CodingKey {
    case parameters
}

/// The parameters in their message. Names that their type does not know are refused where the type lists its names.
private struct ParametersMember<Parameters: Decodable>: Decodable {
    let parameters: Parameters

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: EnvelopeKey.self)
        if let type = Parameters.self as? any NamedFields.Type {
            let known = type.fieldNames
            let fields = try container.nestedContainer(keyedBy: FieldName.self, forKey: .parameters)
            // They come in any order; the same call is to have the same answer.
            let unknown = fields.allKeys.filter { !known.contains($0.stringValue) }
            if let field = unknown.min(by: { $0.stringValue < $1.stringValue }) {
                throw DecodingError.dataCorruptedError(
                    forKey: field, in: fields, debugDescription: "there is no such parameter")
            }
        }
        parameters = try container.decode(Parameters.self, forKey: .parameters)
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
