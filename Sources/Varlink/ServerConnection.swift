/// The server's side of a connection, without input and output: bytes in, calls out, replies in, bytes out.
///
/// One call is outstanding at a time. Later calls wait unparsed, so that replies keep their order, and the socket of a client that
/// pipelines without end fills up.
///
/// ```
/// receive bytes while wantsInput
/// // After receive(_:), the last reply to a call and consumeOutput(_:):
/// while let call = try nextCall() { … send(reply, to: call.id), now or later … }
/// write pendingOutput, consumeOutput(count)
/// close when isFinished
/// ```
public struct ServerConnection: Sendable {
    /// The outcome of `send(_:to:)`.
    public enum SendOutcome: Equatable, Sendable {
        /// The reply waits to be written.
        case queued
        /// The call was `oneway`: nothing is sent, and the call is over.
        case suppressed
        /// The call is not outstanding, or takes one reply only: nothing is sent.
        case notExpected
        /// The peer reads too slowly: the overrun error replaces the messages that were not begun, and the connection closes.
        case overrun
    }

    private struct Outstanding {
        let id: Call.ID
        let wantsMore: Bool
        let isOneway: Bool
    }

    private let limits: ConnectionLimits
    private let overrunReply: VarlinkReply
    private var input: MessageBuffer
    private var output = OutputQueue()
    private var outstanding: Outstanding?
    /// The number of calls that were taken from the input, with those that were answered here.
    public private(set) var callCount: UInt64 = 0
    /// True once the peer has closed its direction.
    public private(set) var inputEnded = false
    /// True if the connection closes after the pending output.
    public private(set) var isClosing = false

    /// Creates the state of a new connection.
    ///
    /// - Parameter overrunReply: The last reply to a call whose client reads too slowly.
    public init(limits: ConnectionLimits = ConnectionLimits(), overrunReply: VarlinkReply) {
        self.limits = limits
        self.overrunReply = overrunReply
        input = MessageBuffer(limit: limits.message)
    }
}

// MARK: - Input

extension ServerConnection {
    /// True while the socket is to be read: not while the buffer is full.
    public var wantsInput: Bool { !isClosing && !inputEnded && input.wantsInput }

    /// True if ``nextCall()`` has a message to take.
    public var hasCall: Bool {
        !isClosing && outstanding == nil && output.byteCount < limits.queuedOutput && input.hasMessage
    }

    /// The call without its last reply.
    public var outstandingCall: Call.ID? { outstanding?.id }

    /// Appends bytes from the socket.
    public mutating func receive(_ bytes: some Sequence<UInt8>) {
        guard !isClosing else { return }
        input.append(bytes)
    }

    /// Appends the bytes of a call of recv(2).
    public mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !isClosing else { return }
        unsafe input.append(bytes)
    }

    /// Notes that the peer has closed its direction. Its calls are still answered.
    public mutating func endOfInput() {
        inputEnded = true
    }

    /// Returns the next call.
    ///
    /// - Returns: The call; nil while a call is outstanding, none has come, or the peer does not read.
    /// - Throws: ``ProtocolViolation``, once; the connection closes.
    public mutating func nextCall() throws(ProtocolViolation) -> Call? {
        while !isClosing && outstanding == nil && output.byteCount < limits.queuedOutput {
            guard let call = try parseCall() else { break }
            if let call { return call }
        }
        return nil
    }

    /// Returns nil without a message, and a nil call for a message that was answered here.
    private mutating func parseCall() throws(ProtocolViolation) -> Call?? {
        do throws(ProtocolViolation) {
            guard let message = try input.next() else { return nil }
            let envelope = try WireFormat.decodeEnvelope(CallEnvelope.self, from: message, nesting: limits.nesting)
            guard !envelope.hasConflictingFlags else { throw .conflictingFlags }
            return .some(begin(envelope))
        } catch {
            close()
            throw error
        }
    }

    private mutating func begin(_ envelope: CallEnvelope) -> Call? {
        callCount += 1
        if envelope.upgrade {
            // After an error the connection speaks Varlink as before.
            output.append(ServiceError.invalidParameter("upgrade").reply.message)
            return nil
        }
        let call = Call(id: Call.ID(number: callCount), envelope: envelope)
        outstanding = Outstanding(id: call.id, wantsMore: call.wantsMore, isOneway: call.isOneway)
        return call
    }
}

// MARK: - Output

extension ServerConnection {
    /// The bytes for the socket; may be empty.
    public var pendingOutput: ArraySlice<UInt8> { output.pending }

    /// The number of bytes that wait to be written.
    public var pendingOutputCount: Int { output.byteCount }

    /// The number of bytes that the connection holds in memory: received and not yet taken, and waiting to be written.
    public var bufferedByteCount: Int { input.storedCount + output.byteCount }

    /// True if the socket can be closed.
    public var isFinished: Bool {
        guard output.byteCount == 0 else { return false }
        return isClosing || (inputEnded && outstanding == nil && !input.hasMessage)
    }

    /// Notes that the first bytes of ``pendingOutput`` were written.
    public mutating func consumeOutput(_ count: Int) {
        output.consume(count)
    }

    /// Queues a reply to the outstanding call. A reply that no other follows ends the call.
    ///
    /// - Parameters:
    ///   - reply: The reply. The limit is for the backlog before it, not for its own length.
    ///   - id: The outstanding call.
    /// - Returns: The outcome; after ``SendOutcome/overrun`` the connection is closing.
    @discardableResult
    public mutating func send(_ reply: VarlinkReply, to id: Call.ID) -> SendOutcome {
        guard let call = outstanding, call.id == id, !reply.continues || call.wantsMore else { return .notExpected }
        if reply.continues && output.byteCount > 0 && output.byteCount + reply.message.count > limits.queuedOutput {
            overrun()
            return .overrun
        }
        if !reply.continues { outstanding = nil }
        guard !call.isOneway else { return .suppressed }
        output.append(reply.message)
        return .queued
    }

    /// Queues the replies to a call that are all there. However long they are together, the peer has not been too slow.
    ///
    /// - Parameters:
    ///   - replies: The replies, of which the last does not continue.
    ///   - id: The outstanding call.
    /// - Returns: The outcome.
    @discardableResult
    public mutating func send(_ replies: [VarlinkReply], to id: Call.ID) -> SendOutcome {
        guard let call = outstanding, call.id == id, let last = replies.last, replies.count == 1 || call.wantsMore
        else {
            return .notExpected
        }
        for reply in replies.dropLast() { output.append(reply.message) }
        return send(last, to: id)
    }

    /// Closes the connection after the pending output, and drops the calls that were not returned.
    public mutating func close() {
        isClosing = true
        outstanding = nil
        input.removeAll()
    }

    private mutating func overrun() {
        output.dropUnbegun()
        output.append(overrunReply.message)
        close()
    }
}

/// The limits for the memory of one peer's messages.
public struct ConnectionLimits: Sendable, Equatable {
    /// The longest message that is accepted, in bytes, without its terminating NUL.
    public var message: Int
    /// The deepest nesting of objects and arrays in a message.
    public var nesting: Int
    /// The number of unread bytes from which further calls wait, and a stream of replies counts as overrun.
    public var queuedOutput: Int

    /// Creates limits; by default those for untrusted peers.
    public init(message: Int = 1 << 20, nesting: Int = 64, queuedOutput: Int = 256 << 10) {
        self.message = message
        self.nesting = nesting
        self.queuedOutput = queuedOutput
    }
}

/// Messages that wait for the peer to read them, in order.
struct OutputQueue {
    private var messages: [[UInt8]] = []
    /// The number of bytes of the first message that were written.
    private var sent = 0
    /// The number of bytes that wait.
    private(set) var byteCount = 0

    /// The bytes to write next; may be empty.
    var pending: ArraySlice<UInt8> { messages.first?[sent...] ?? [] }

    mutating func append(_ message: [UInt8]) {
        messages.append(message)
        byteCount += message.count
    }

    /// Notes that the first bytes of ``pending`` were written.
    mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= pending.count, "more was sent than was waiting")
        sent += count
        byteCount -= count
        guard sent == messages.first?.count else { return }
        messages.removeFirst()
        sent = 0
    }

    /// Drops the messages that were not begun. The peer needs the rest of a message that was begun.
    mutating func dropUnbegun() {
        messages.removeSubrange((sent > 0 ? 1 : 0)...)
        byteCount = pending.count
    }
}
