/// The format of messages: JSON with a terminating NUL.
enum WireFormat {
    /// Returns a message of members with its NUL.
    static func encode(_ writeMembers: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        writeMembers(&json)
        json.endObject()
        json.appendTerminator()
        return json.bytes
    }

    /// Checks a message, and reads its members.
    static func decodeEnvelope<Envelope: JSONReadable>(
        _ type: Envelope.Type, from message: ArraySlice<UInt8>, nesting limit: Int
    ) throws(ProtocolViolation) -> Envelope {
        do throws(JSONError) {
            return try JSONText(message, depth: limit).read()
        } catch {
            throw error.kind == .tooDeep ? .nestedTooDeeply(limit: limit) : .malformed
        }
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
        case .unexpectedContinuation: "a reply announces others that the call did not ask for"
        }
    }
}
