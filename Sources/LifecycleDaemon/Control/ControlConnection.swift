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
    private weak var server: ControlServer?
    private var state: ServerConnection
    private var source: IOSource?
    /// True while a call waits for the next turn. No more of them are read meanwhile.
    private(set) var isAwaitingTurn = false
    private(set) var bufferedByteCount = 0

    /// The bytes of one call of recv(2), for all connections.
    private static let inputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)

    init(
        _ descriptor: consuming Descriptor, peer: PeerCredentials, client: ClientIdentity, limits: ConnectionLimits,
        overrun: VarlinkReply, loop: EventLoop, service: Service, server: ControlServer
    ) throws(SystemdError) {
        self.peer = peer
        self.client = client
        number = descriptor.rawValue
        self.descriptor = consume descriptor
        self.service = service
        self.server = server
        state = ServerConnection(limits: limits, overrunReply: overrun)
        source = try loop.watch(descriptor: number, events: .readable) { [weak self] events in
            self?.ready(events)
        }
    }

    /// The privileges of the client, which bound those of an app that it runs.
    var confinement: Confinement {
        guard peer.process != PeerCredentials.outsideProcess else { return .unknown }
        return Confinement(of: peer.process, knownAt: acceptTime) ?? .unknown
    }

    var scope: ClientScope { client.scope }
    var isBusy: Bool { state.outstandingCall != nil }
    var hasPendingOutput: Bool { state.pendingOutputCount > 0 }

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
        server?.connectionClosed(self)
    }

    private func accountForMemory() {
        let change = state.bufferedByteCount - bufferedByteCount
        guard change != 0, source != nil else { return }
        bufferedByteCount += change
        server?.connection(self, changedHeldBytesBy: change)
    }

    private func ready(_ events: IOEvents) {
        if !events.isDisjoint(with: [.readable, .hangUp, .error]), !read() { return close() }
        if isAwaitingTurn { return flush() }
        let hasCall = takeTurn()
        // A peer that is closed in both directions gets no reply, and epoll(7) would report its end again and again.
        if events.contains(.hangUp), state.inputEnded, !hasCall, !isAwaitingTurn { close() }
    }

    /// Passes the next call on. The service answers some of them here.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func takeTurn() -> Bool {
        isAwaitingTurn = false
        guard source != nil else { return false }
        defer { flush() }
        do throws(ProtocolViolation) {
            guard let call = try state.nextCall(of: service) else { return false }
            server?.pass(ClientCall(call: call, connection: self))
            return true
        } catch {
            server?.connection(self, violatedProtocol: error)
            return false
        }
    }

    /// Writes what the socket takes, and queues the next call: it is in memory already, so the kernel sends no event for it.
    private func flush() {
        write()
        accountForMemory()
        guard source != nil else { return }
        if state.isFinished { return close() }
        if state.hasCall, !isAwaitingTurn {
            isAwaitingTurn = true
            server?.connectionAwaitsTurn(self)
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
