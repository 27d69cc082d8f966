/// A connection to a Varlink service, for programs that can wait for replies.
public struct VarlinkClient: ~Copyable {
    private let socket: Socket
    private let limits: ConnectionLimits
    private let longestCall: Int
    private var input: MessageBuffer
    private var isStreaming = false

    /// The limits for a trusted service: 64 MiB a message.
    public static var defaultLimits: ConnectionLimits { ConnectionLimits(message: 64 << 20) }

    /// Connects to a socket.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - timeout: The time for the connection; nil for no limit.
    ///   - limits: The limits for the replies.
    ///   - longestCall: The limit for a call, in bytes. A service of this package closes the connection on a longer one.
    public init(
        path: String, timeout: Duration?, limits: ConnectionLimits = VarlinkClient.defaultLimits,
        longestCall: Int = ConnectionLimits().message
    ) throws(ClientError) {
        socket = try Socket.connected(to: path, deadline: Deadline(after: timeout))
        self.limits = limits
        self.longestCall = longestCall
        input = MessageBuffer(limit: limits.message)
    }

    /// The descriptor of the connection, which is readable when a reply may have come, or the service has closed it.
    public var descriptor: CInt { socket.descriptor }

    /// The user that the service runs as, by the kernel's word; nil if the kernel does not tell.
    public var serverUser: UInt32? { socket.peerUser }

    /// Calls a method, and waits for its only reply.
    ///
    /// After a failure without a reply, the connection must not be used again: the reply may still come, and would be taken
    /// for the reply to the next call.
    ///
    /// - Parameters:
    ///   - parameters: The parameters, which are written as a JSON object.
    ///   - timeout: The time for the call and the reply together; nil for no limit.
    /// - Returns: The parameters of the reply.
    public mutating func call<Result: JSONReadable>(
        _ method: String, _ parameters: some JSONWritable, as type: Result.Type = Result.self, timeout: Duration?
    ) throws(ClientError) -> Result {
        let deadline = Deadline(after: timeout)
        try send(method, parameters, deadline)
        let (result, continues) = try receive(Result.self, deadline)
        guard !continues else { throw .violation(.unexpectedContinuation) }
        return result
    }

    /// Calls a method without waiting for its only reply. ``next(as:timeout:)`` returns the reply, and may be called again
    /// after a timeout.
    ///
    /// - Parameters:
    ///   - parameters: The parameters, which are written as a JSON object.
    ///   - timeout: The time in which the call must be sent; nil for no limit.
    public mutating func begin(
        _ method: String, _ parameters: some JSONWritable, timeout: Duration?
    ) throws(ClientError) {
        try send(method, parameters, Deadline(after: timeout))
        isStreaming = true
    }

    /// Calls a method without a reply.
    ///
    /// - Parameters:
    ///   - parameters: The parameters, which are written as a JSON object.
    ///   - timeout: The time in which the call must be sent; nil for no limit.
    public func post(_ method: String, _ parameters: some JSONWritable, timeout: Duration?) throws(ClientError) {
        try send(method, parameters, flag: "oneway", Deadline(after: timeout))
    }

    /// Calls a method with several replies, which ``next(as:timeout:)`` returns.
    ///
    /// - Parameters:
    ///   - parameters: The parameters, which are written as a JSON object.
    ///   - timeout: The time in which the call must be sent; nil for no limit.
    public mutating func subscribe(
        _ method: String, _ parameters: some JSONWritable, timeout: Duration?
    ) throws(ClientError) {
        try send(method, parameters, flag: "more", Deadline(after: timeout))
        isStreaming = true
    }

    /// Waits for the next reply.
    ///
    /// - Parameters:
    ///   - timeout: The time to wait; nil for no limit, zero to take only a reply that has come.
    /// - Returns: The parameters of the reply; nil after the last one.
    public mutating func next<Result: JSONReadable>(
        as type: Result.Type = Result.self, timeout: Duration?
    ) throws(ClientError) -> Result? {
        guard isStreaming else { return nil }
        let (result, continues) = try receive(Result.self, Deadline(after: timeout))
        isStreaming = continues
        return result
    }

    /// Ends the connection, and waits until the service has closed it: what lasts as long as the connection has ended then.
    ///
    /// - Parameter timeout: The time to wait; nil for no limit.
    /// - Throws: ``ClientError``. A connection that the service has closed before is none.
    public mutating func disconnect(timeout: Duration?) throws(ClientError) {
        let deadline = Deadline(after: timeout)
        socket.endOutput()
        // Replies to earlier calls may still come.
        input = MessageBuffer(limit: limits.message)
        do throws(ClientError) {
            while try socket.receive(into: &input, deadline: deadline) {}
        } catch .closed {}
    }

    private func send(
        _ method: String, _ parameters: some JSONWritable, flag: String? = nil, _ deadline: Deadline
    ) throws(ClientError) {
        var call: JSONValue = ["method": method.json, "parameters": parameters.json]
        if let flag { call = ["method": method.json, flag: .bool(true), "parameters": parameters.json] }
        let message = WireFormat.encode(call)
        guard message.count <= longestCall else { throw .callTooLong(limit: longestCall) }
        try socket.send(message, deadline: deadline)
    }

    private mutating func receive<Result: JSONReadable>(
        _ type: Result.Type, _ deadline: Deadline
    ) throws(ClientError) -> (Result, continues: Bool) {
        let message = try nextMessage(deadline)
        let envelope = try Self.envelope(of: message, nesting: limits.nesting)
        if let error = envelope.error {
            isStreaming = false
            throw .remote(RemoteError(name: error, parameters: envelope.parameters))
        }
        do throws(JSONError) {
            return (try Result(json: envelope.parameters), envelope.continues)
        } catch {
            throw .unexpectedReply(error.description)
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

/// The error of a call.
public enum ClientError: Error, Sendable {
    /// connect(2) failed with this errno: ENOENT, ECONNREFUSED, EACCES and the like.
    case cannotConnect(path: String, errno: Int32)
    /// The peer closed the connection before its reply.
    case closed
    /// The reply did not come in time.
    case timedOut
    /// The peer sent a message that is not Varlink.
    case violation(ProtocolViolation)
    /// The parameters of the reply have another type; the text is the cause.
    case unexpectedReply(String)
    /// The call is longer than the limit, in bytes, and was not sent.
    case callTooLong(limit: Int)
    /// A system call failed with this errno.
    case system(call: String, errno: Int32)
    /// The peer replied with an error.
    case remote(RemoteError)
}
