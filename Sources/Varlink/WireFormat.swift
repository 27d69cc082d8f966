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
}
