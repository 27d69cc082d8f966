import Glibc
import Processes
import Systemd
import Varlink

/// The connection of a client: its socket, and the state of the protocol. It never blocks.
final class ControlConnection {
    let peer: PeerCredentials
    private let acceptTime = Confinement.now
    let client: ClientIdentity
    var lastActivity: UInt64 = 0
    var isSubscribed = false

    /// The socket; nil once it is closed.
    private var descriptor: Descriptor?
    let number: Int32
    private let service: Service
    private var state: ServerConnection
    private var source: IOSource?
    private let nextTurn: LaterSource
    /// True while a call waits for the next turn. No more of them are read meanwhile.
    private(set) var isAwaitingTurn = false

    /// The bytes of one call of recv(2), for all connections.
    private static let inputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)

    /// - Parameters:
    ///   - id: The name of the connection in events.
    ///   - nextTurn: Scheduled when a call awaits its turn.
    init(
        _ descriptor: consuming Descriptor, id: UInt64, peer: PeerCredentials, client: ClientIdentity,
        limits: ConnectionLimits, overrun: VarlinkReply, events: Events, nextTurn: LaterSource,
        service: Service
    ) throws(SystemdError) {
        self.peer = peer
        self.client = client
        number = descriptor.rawValue
        self.descriptor = consume descriptor
        self.service = service
        state = ServerConnection(limits: limits, overrunReply: overrun)
        self.nextTurn = nextTurn
        source = try events.watch(number, for: .readable) { .client(id, $0) }
    }

    /// The privileges of the client, which bound those of an app that it runs.
    var confinement: Confinement {
        guard peer.process != PeerCredentials.outsideProcess else { return .unknown }
        return Confinement(of: peer.process, knownAt: acceptTime) ?? .unknown
    }

    var scope: ClientScope { client.scope }
    var isBusy: Bool { state.outstandingCall != nil }
    var hasPendingOutput: Bool { state.pendingOutputCount > 0 }
    var bufferedByteCount: Int { state.bufferedByteCount }

    func send(_ reply: VarlinkReply, to call: Call.ID) {
        if !reply.continues { isSubscribed = false }
        state.send(reply, to: call)
        flush()
    }

    /// Sends the replies to a call that are all there.
    func send(_ replies: [VarlinkReply], to call: Call.ID) {
        state.send(replies, to: call)
        flush()
    }

    var isOpen: Bool { source != nil }

    func close() {
        guard let source else { return }
        source.cancel()
        self.source = nil
        // At once: another client may need the descriptor.
        descriptor = nil
    }

    /// Reads and writes what the socket is ready for.
    ///
    /// - Returns: The next call; nil if there is none, or it waits for its turn.
    func proceed(_ ready: IOEvents) throws(ProtocolViolation) -> ClientCall? {
        if !ready.isDisjoint(with: [.readable, .hangUp, .error]), !read() { close() }
        if isAwaitingTurn {
            flush()
            return nil
        }
        let call = try takeTurn()
        // A peer that is closed in both directions gets no reply, and epoll(7) would report its end again and again.
        if ready.contains(.hangUp), state.inputEnded, call == nil, !isAwaitingTurn { close() }
        return call
    }

    /// Takes the next call. The service answers some of them here.
    func takeTurn() throws(ProtocolViolation) -> ClientCall? {
        isAwaitingTurn = false
        guard source != nil else { return nil }
        defer { flush() }
        return try state.nextCall(of: service).map { ClientCall(call: $0, connection: self) }
    }

    /// Writes what the socket takes, and queues the next call: it is in memory already, so the kernel sends no event for it.
    private func flush() {
        write()
        guard source != nil else { return }
        if state.isFinished { return close() }
        if state.hasCall, !isAwaitingTurn {
            isAwaitingTurn = true
            nextTurn.schedule()
        }
        var events: IOEvents = []
        if state.wantsInput, !isAwaitingTurn { events.insert(.readable) }
        if state.pendingOutputCount > 0 { events.insert(.writable) }
        source?.events = events
    }

    /// Reads once, so that other clients have their turn.
    ///
    /// - Returns: Whether the connection is usable.
    private func read() -> Bool {
        let buffer = unsafe Self.inputBuffer
        let count = unsafe recv(number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        guard count != 0 else {
            state.endOfInput()
            return true
        }
        guard count > 0 else { return errno == EAGAIN || errno == EINTR }
        unsafe state.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        return true
    }

    private func write() {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        while source != nil, state.pendingOutputCount > 0 {
            let count = unsafe state.pendingOutput.withUnsafeBytes { bytes in
                unsafe Glibc.send(number, bytes.baseAddress, bytes.count, flags)
            }
            if count > 0 {
                state.consumeOutput(count)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                close()
            }
        }
    }
}
