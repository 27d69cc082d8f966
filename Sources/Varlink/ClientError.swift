/// Why a call had no result.
public enum ClientError: Error, Sendable {
    /// There is nobody at the socket, or it may not be used: ENOENT, ECONNREFUSED, EACCES and the like of connect(2).
    case cannotConnect(path: String, errno: Int32)
    /// The peer closed the connection before it answered.
    case closed
    /// The time for the call was over before the answer came.
    case timedOut
    /// What the peer sent is not Varlink.
    case violation(ProtocolViolation)
    /// The reply's parameters are not of the type that the caller asked for; the text says what is wrong.
    case unexpectedReply(String)
    /// The call itself is longer than the limit, in bytes; nothing was sent.
    case callTooLong(limit: Int)
    /// A system call failed in the middle of the conversation.
    case system(call: String, errno: Int32)
    /// The peer answered with an error.
    case remote(RemoteError)
}
