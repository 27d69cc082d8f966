import FoundationEssentials

/// The format of messages: JSON with a terminating NUL.
enum WireFormat {
    /// Returns the message with its NUL; nil for a value without a JSON form (a number that is not finite).
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

    /// Checks and decodes the envelope of a message.
    static func decodeEnvelope<Envelope: Decodable>(
        _ type: Envelope.Type, from message: ArraySlice<UInt8>, nesting limit: Int
    ) throws(ProtocolViolation) -> Envelope {
        guard !Nesting.exceeds(limit, in: message) else { throw .nestedTooDeeply(limit: limit) }
        // The parser accepts a byte order mark, and finds bad UTF-8 only in the strings that are decoded.
        guard String(validating: message, as: UTF8.self) != nil else { throw .malformed }
        do {
            return try JSONDecoder().decode(Envelope.self, from: Data(message))
        } catch {
            throw .malformed
        }
    }
}

/// The depth of JSON, which is checked before the recursive parser could overflow its stack. Exact for valid JSON; the
/// parser refuses the rest.
enum Nesting {
    static func exceeds(_ limit: Int, in text: some Sequence<UInt8>) -> Bool {
        var depth = 0
        var inString = false
        var escaped = false
        for byte in text {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                if depth > limit { return true }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        return false
    }
}

/// A message of the peer that is not Varlink.
///
/// Such a message has no reply in the specification: the connection ends after the replies before it.
public enum ProtocolViolation: Error, Equatable, Sendable {
    /// A message is longer than the limit, in bytes.
    case messageTooLong(limit: Int)
    /// Objects and arrays nest deeper than the limit.
    case nestedTooDeeply(limit: Int)
    /// The message is not a JSON object in UTF-8 with the members of a call or a reply.
    case malformed
    /// More than one of `oneway`, `more` and `upgrade` is set.
    case conflictingFlags
    /// A reply announces others that the call did not ask for.
    case unexpectedContinuation
}

extension ProtocolViolation: CustomStringConvertible {
    /// The violation, for a log.
    public var description: String {
        switch self {
        case .messageTooLong(let limit): "a message is longer than \(limit) bytes"
        case .nestedTooDeeply(let limit): "a message nests objects and arrays deeper than \(limit) levels"
        case .malformed: "a message is not a JSON object with the members that Varlink asks for"
        case .conflictingFlags: "a call sets more than one of oneway, more and upgrade"
        case .unexpectedContinuation: "a reply announces others that nobody asked for"
        }
    }
}
