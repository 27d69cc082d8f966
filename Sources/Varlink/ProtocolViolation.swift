/// Something a peer sent that is not Varlink.
///
/// The specification gives such messages no reply: the connection ends once the replies before them are sent.
public enum ProtocolViolation: Error, Equatable, Sendable {
    /// A message is longer than the limit, in bytes.
    case messageTooLong(limit: Int)
    /// Objects and arrays lie deeper within one another than the limit.
    case nestedTooDeeply(limit: Int)
    /// The message is not a JSON object in UTF-8 with the members of a call or a reply.
    case malformed
    /// More than one of `oneway`, `more` and `upgrade` is set.
    case conflictingFlags
    /// A reply says that others follow although the call did not ask for them.
    case unexpectedContinuation
}

extension ProtocolViolation: CustomStringConvertible {
    /// What was wrong, for a log.
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
