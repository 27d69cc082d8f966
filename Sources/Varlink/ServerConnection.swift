/// The server's side of one connection: bytes in, calls out, replies in, bytes out. It does no input or output itself.
///
/// One call is outstanding at a time. The calls behind it wait unparsed among the received bytes, so that replies keep
/// their order and a client that pipelines without end is held back by its own socket:
///
///     receive bytes while wantsInput
///     while let call = try nextCall() { … send(reply, to: call.id), now or later … }
///     write pendingOutput, consumeOutput(count)
///     close when isFinished
///
/// ``nextCall()`` may have something new after a ``receive(_:)``, after the last reply to a call, and after a
/// ``consumeOutput(_:)``.
public struct ServerConnection: Sendable {
    /// What became of a reply.
    public enum SendOutcome: Equatable, Sendable {
        /// It waits to be written.
        case queued
        /// The call was `oneway`: nothing is sent, and the call is done with.
        case suppressed
        /// The call is not outstanding, or takes one reply and was given one of several: nothing is sent.
        case notExpected
        /// The peer reads too slowly: what it had not begun to get is dropped, and it gets the overrun error instead.
        /// The call is done with and the connection is closing.
        case overrun
    }

    private struct Outstanding {
        let id: Call.ID
        let wantsMore: Bool
        let isOneway: Bool
    }

    private let limits: ConnectionLimits
    private let overrunReply: Reply
    private var input: MessageBuffer
    private var output = OutputQueue()
    private var outstanding: Outstanding?
    private var callCount: UInt64 = 0
    /// Whether the peer will send no more, and all that it has sent is here.
    public private(set) var inputEnded = false
    /// Whether the connection is over but for the bytes that wait to be written.
    public private(set) var isClosing = false

    /// A connection without history. The overrun reply ends a stream whose reader is too slow.
    public init(limits: ConnectionLimits = ConnectionLimits(), overrunReply: Reply) {
        self.limits = limits
        self.overrunReply = overrunReply
        input = MessageBuffer(limit: limits.message)
    }
}

// MARK: - Input
extension ServerConnection {
    /// Whether to read from the socket. Not while the longest message is here and waits for an earlier call.
    public var wantsInput: Bool { !isClosing && !inputEnded && input.wantsInput }

    /// The call that was given out and has not had its last reply.
    public var outstandingCall: Call.ID? { outstanding?.id }

    /// Takes bytes that came from the socket.
    public mutating func receive(_ bytes: some Sequence<UInt8>) {
        guard !isClosing else { return }
        input.append(bytes)
    }

    /// Takes note that the peer will send no more. The calls it made are still answered: it may have shut down one
    /// direction only.
    public mutating func endOfInput() {
        inputEnded = true
    }

    /// The next call, or nil while one is outstanding, none has arrived in full, or the peer does not read.
    ///
    /// A violation is thrown once; the connection is closing then.
    public mutating func nextCall() throws(ProtocolViolation) -> Call? {
        while !isClosing && outstanding == nil && output.byteCount < limits.queuedOutput {
            guard let call = try parseCall() else { break }
            if let call { return call }
        }
        return nil
    }

    /// Nil when no message is there; a nil call when the message was answered here.
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
        if envelope.upgrade {
            // An error leaves the connection a Varlink connection, as if nothing had been asked for.
            output.append(ServiceError.invalidParameter("upgrade").reply.message)
            return nil
        }
        callCount += 1
        let call = Call(id: Call.ID(number: callCount), envelope: envelope)
        outstanding = Outstanding(id: call.id, wantsMore: call.wantsMore, isOneway: call.isOneway)
        return call
    }
}

// MARK: - Output
extension ServerConnection {
    /// Bytes for the socket; empty when there are none.
    public var pendingOutput: ArraySlice<UInt8> { output.pending }

    /// How many bytes wait in all.
    public var pendingOutputCount: Int { output.byteCount }

    /// The number of bytes that the connection holds in memory: received and not yet taken, and waiting to be written.
    public var heldByteCount: Int { input.storedCount + output.byteCount }

    /// Whether nothing more will happen: the socket can be closed.
    public var isFinished: Bool {
        guard output.byteCount == 0 else { return false }
        return isClosing || (inputEnded && outstanding == nil && !input.hasMessage)
    }

    /// Takes note that the socket took the first bytes of ``pendingOutput``.
    public mutating func consumeOutput(_ count: Int) {
        output.consume(count)
    }

    /// Queues a reply to the outstanding call. A reply that says that none follows ends the call.
    ///
    /// A single reply may be as long as it needs to be; it is the backlog before it that is limited.
    @discardableResult
    public mutating func send(_ reply: Reply, to id: Call.ID) -> SendOutcome {
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

    /// Ends the connection once what waits is written. Calls that were not given out are dropped.
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

/// How much one peer may make this side hold in memory.
public struct ConnectionLimits: Sendable, Equatable {
    /// The longest message that is accepted, in bytes, without its terminating NUL.
    public var message: Int
    /// How deep objects and arrays may lie within one another in a message.
    public var nesting: Int
    /// How many bytes may wait for the peer to read them before a stream of replies counts as overrun
    /// and before further calls wait.
    public var queuedOutput: Int

    /// Limits for a peer that is not trusted: 1 MiB a message, 64 levels, 256 KiB of unread replies.
    public init(message: Int = 1 << 20, nesting: Int = 64, queuedOutput: Int = 256 << 10) {
        self.message = message
        self.nesting = nesting
        self.queuedOutput = queuedOutput
    }
}

/// Messages that wait for the peer to read them, in order.
struct OutputQueue {
    private var messages: [[UInt8]] = []
    /// The message being sent; those before it are sent.
    private var first = 0
    /// How much of it the kernel has taken.
    private var sent = 0
    /// How many bytes wait.
    private(set) var byteCount = 0

    private static let compactionThreshold = 64

    /// What to send next; empty when nothing waits.
    var pending: ArraySlice<UInt8> {
        first < messages.count ? messages[first][sent...] : []
    }

    mutating func append(_ message: [UInt8]) {
        messages.append(message)
        byteCount += message.count
    }

    /// Takes note that the kernel took the first bytes of ``pending``.
    mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= pending.count, "more was sent than was waiting")
        sent += count
        byteCount -= count
        guard first < messages.count, sent == messages[first].count else { return }
        messages[first] = []
        first += 1
        sent = 0
        if first == messages.count || first >= Self.compactionThreshold {
            messages.removeFirst(first)
            first = 0
        }
    }

    /// Drops every message of which nothing was sent. A message that was begun must end, or the peer reads garbage.
    mutating func dropUnbegun() {
        let kept = sent > 0 ? first + 1 : first
        for message in messages[kept...] { byteCount -= message.count }
        messages.removeSubrange(kept...)
    }
}
