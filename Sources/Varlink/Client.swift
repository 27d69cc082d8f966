/// A connection to a Varlink service, for programs that can wait for their answers.
public struct Client: ~Copyable {
    private let socket: Socket
    private let limits: ConnectionLimits
    private let longestCall: Int
    private var input: MessageBuffer
    private var isStreaming = false

    /// Replies of a daemon one chose to talk to may be longer than what the daemon takes from anybody.
    public static var defaultLimits: ConnectionLimits { ConnectionLimits(message: 64 << 20) }

    /// Connects to the socket at a path, within the given time; nil waits for as long as it takes.
    ///
    /// Calls longer than `longestCall` bytes are not sent: a service of this package closes the connection on them.
    public init(
        path: String, timeout: Duration?, limits: ConnectionLimits = Client.defaultLimits,
        longestCall: Int = ConnectionLimits().message
    ) throws(ClientError) {
        socket = try Socket.connected(to: path, deadline: Deadline(after: timeout))
        self.limits = limits
        self.longestCall = longestCall
        input = MessageBuffer(limit: limits.message)
    }

    /// Readable when a reply may have come, or the service has closed the connection: for those who wait for more than one
    /// thing. It belongs to the connection.
    public var descriptor: CInt { socket.descriptor }

    /// The user that the service runs as, by the kernel's word; nil if the kernel does not tell.
    public var serverUser: UInt32? { socket.peerUser }

    /// Calls a method and waits for its only reply. A connection whose call failed without an answer from the peer is
    /// of no further use: the answer might come yet and would be taken for the next call's.
    public mutating func call<Result: Decodable>(
        _ method: String, _ parameters: some Encodable, as type: Result.Type = Result.self, timeout: Duration?
    ) throws(ClientError) -> Result {
        let deadline = Deadline(after: timeout)
        try send(CallMessage(method: method, parameters: parameters, more: nil), deadline)
        let (result, continues) = try receive(Result.self, deadline)
        guard !continues else { throw .violation(.unexpectedContinuation) }
        return result
    }

    /// Calls a method without waiting: ``next(as:timeout:)`` gets its only reply, and may be tried again after a timeout.
    public mutating func begin(
        _ method: String, _ parameters: some Encodable, timeout: Duration?
    ) throws(ClientError) {
        try send(CallMessage(method: method, parameters: parameters, more: nil), Deadline(after: timeout))
        isStreaming = true
    }

    /// Calls a method that answers with a stream of replies; ``next(as:timeout:)`` gets them.
    public mutating func subscribe(
        _ method: String, _ parameters: some Encodable, timeout: Duration?
    ) throws(ClientError) {
        try send(CallMessage(method: method, parameters: parameters, more: true), Deadline(after: timeout))
        isStreaming = true
    }

    /// The next reply of the stream, or nil after the last one.
    public mutating func next<Result: Decodable>(
        as type: Result.Type = Result.self, timeout: Duration?
    ) throws(ClientError) -> Result? {
        guard isStreaming else { return nil }
        let (result, continues) = try receive(Result.self, Deadline(after: timeout))
        isStreaming = continues
        return result
    }

    private func send(_ call: CallMessage<some Encodable>, _ deadline: Deadline) throws(ClientError) {
        guard let message = WireFormat.encode(call) else {
            preconditionFailure("the parameters of a call do not encode as JSON")
        }
        guard message.count <= longestCall else { throw .callTooLong(limit: longestCall) }
        try socket.send(message, deadline: deadline)
    }

    private mutating func receive<Result: Decodable>(
        _ type: Result.Type, _ deadline: Deadline
    ) throws(ClientError) -> (Result, continues: Bool) {
        let message = try nextMessage(deadline)
        let envelope = try Self.envelope(of: message, nesting: limits.nesting)
        if let error = envelope.error {
            isStreaming = false
            throw .remote(RemoteError(name: error, message: message))
        }
        do {
            return (try envelope.parameters.decode(), envelope.continues)
        } catch {
            throw .unexpectedReply("\(error)")
        }
    }

    private mutating func nextMessage(_ deadline: Deadline) throws(ClientError) -> ArraySlice<UInt8> {
        while true {
            do throws(ProtocolViolation) {
                if let message = try input.next() { return message }
            } catch {
                throw .violation(error)
            }
            guard try socket.receive(into: &input, deadline: deadline) else { throw .closed }
        }
    }

    private static func envelope(
        of message: ArraySlice<UInt8>, nesting: Int
    ) throws(ClientError) -> ReplyEnvelope {
        do throws(ProtocolViolation) {
            return try WireFormat.decodeEnvelope(ReplyEnvelope.self, from: message, nesting: nesting)
        } catch {
            throw .violation(error)
        }
    }
}

/// The members of a call; what is nil is left out.
private struct CallMessage<Parameters: Encodable>: Encodable {
    let method: String
    let parameters: Parameters
    let more: Bool?
}

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
