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

    private let descriptor: Descriptor
    private let service: Service
    private weak var delegate: ControlServer?
    private var state: ServerConnection
    private var source: IOSource?
    private var isProceeding = false
    /// The number of calls at which the present turn is over.
    private var turnEnd: UInt64 = 0
    /// A Boolean value that indicates whether calls may wait for the next turn. No more of them are read meanwhile.
    private(set) var isAwaitingTurn = false
    private(set) var bufferedByteCount = 0

    private static let callsPerTurn: UInt64 = 32

    /// The bytes of one call of recv(2), for all connections.
    private static let inputBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)

    init(
        _ descriptor: consuming Descriptor, peer: PeerCredentials, client: ClientIdentity, limits: ConnectionLimits,
        overrun: VarlinkReply, loop: EventLoop, service: Service, delegate: ControlServer
    ) throws(SystemdError) {
        self.peer = peer
        self.client = client
        self.descriptor = descriptor
        self.service = service
        self.delegate = delegate
        state = ServerConnection(limits: limits, overrunReply: overrun)
        source = try loop.watch(descriptor: self.descriptor.rawValue, events: .readable) { [weak self] events in
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
    var number: Int32 { descriptor.rawValue }
    var hasPendingOutput: Bool { state.pendingOutputCount > 0 }

    func send(_ reply: VarlinkReply, to call: Call.ID) {
        if !reply.continues { isSubscribed = false }
        state.send(reply, to: call)
        proceed()
    }

    /// Sends the replies to a call that are all there.
    func send(_ replies: [VarlinkReply], to call: Call.ID) {
        state.send(replies, to: call)
        proceed()
    }

    var isOpen: Bool { source != nil }

    func close() {
        guard let source else { return }
        source.cancel()
        self.source = nil
        delegate?.connectionClosed(self)
    }

    private func accountForMemory() {
        let change = state.bufferedByteCount - bufferedByteCount
        guard change != 0, source != nil else { return }
        bufferedByteCount += change
        delegate?.connection(self, changedHeldBytesBy: change)
    }

    private func ready(_ events: IOEvents) {
        if !events.isDisjoint(with: [.readable, .hangUp, .error]), !read() { return close() }
        turnEnd = state.callCount + Self.callsPerTurn
        proceed()
        // A peer that is closed in both directions gets no reply, and epoll(7) would report its end again and again.
        if events.contains(.hangUp), state.inputEnded, !isAwaitingTurn { close() }
    }

    /// Handles more of the calls that have come.
    func takeTurn() {
        isAwaitingTurn = false
        turnEnd = state.callCount + Self.callsPerTurn
        proceed()
    }

    /// Handles the complete calls of a turn one after the other, and writes what the socket takes.
    private func proceed() {
        // The reply to a call that is answered at once re-enters here.
        guard source != nil, !isProceeding else { return }
        isProceeding = true
        defer {
            isProceeding = false
            accountForMemory()
        }
        var hasHandled = false
        // Calls may wait until the output is written, and no event tells of them.
        repeat {
            if handleCalls() { hasHandled = true }
        } while write() && !isTurnOver && state.hasCall
        if hasHandled { delegate?.callsHandled() }
        guard source != nil else { return }
        if state.isFinished { return close() }
        if isTurnOver, !isBusy, !isAwaitingTurn {
            isAwaitingTurn = true
            delegate?.connectionAwaitsTurn(self)
        }
        var events: IOEvents = []
        if state.wantsInput, !isAwaitingTurn { events.insert(.readable) }
        if state.pendingOutputCount > 0 { events.insert(.writable) }
        source?.events = events
    }

    private var isTurnOver: Bool { state.callCount >= turnEnd }

    /// - Returns: Whether there was a call; the service may have answered it.
    private func handleCalls() -> Bool {
        let before = state.callCount
        do throws(ProtocolViolation) {
            while source != nil, !isTurnOver, let call = try state.nextCall(of: service) {
                delegate?.handle(ClientCall(call: call, connection: self))
            }
        } catch {
            delegate?.connection(self, violatedProtocol: error)
        }
        return state.callCount != before
    }

    /// Reads once, so that other clients have their turn.
    ///
    /// - Returns: Whether the connection is usable.
    private func read() -> Bool {
        let buffer = unsafe Self.inputBuffer
        let count = unsafe recv(descriptor.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        guard count != 0 else {
            state.endOfInput()
            return true
        }
        guard count > 0 else { return errno == EAGAIN || errno == EINTR }
        unsafe state.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        return true
    }

    /// - Returns: Whether all output is written and the connection is usable.
    private func write() -> Bool {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        while source != nil, state.pendingOutputCount > 0 {
            let count = unsafe state.pendingOutput.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor.rawValue, bytes.baseAddress, bytes.count, flags)
            }
            if count > 0 {
                state.consumeOutput(count)
            } else if errno == EAGAIN {
                return false
            } else if errno != EINTR {
                close()
            }
        }
        return source != nil
    }
}
