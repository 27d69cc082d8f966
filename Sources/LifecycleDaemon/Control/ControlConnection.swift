import Glibc
import Processes
import Systemd
import Varlink

/// One client: its socket, and the protocol's state. It reads and writes what the socket takes, and never waits.
final class ControlConnection {
    /// What a connection needs of the server that it belongs to.
    struct Handlers {
        let service: Service
        let call: (Call, ControlConnection) -> Void
        let violation: (ProtocolViolation, ControlConnection) -> Void
        /// The number of bytes that the connection holds has changed by this many.
        let held: (Int, ControlConnection) -> Void
        let closed: (ControlConnection) -> Void
    }

    let peer: PeerCredentials
    /// When the connection was accepted, in clock ticks since boot.
    private let acceptTime = Confinement.now
    let scope: ClientScope
    /// The order among all connections in which this one last did something.
    var lastActivity: UInt64 = 0
    /// Whether its outstanding call is a subscription.
    var isSubscribed = false

    private let descriptor: Descriptor
    private let handlers: Handlers
    private var state: ServerConnection
    private var source: IOSource?
    private var isProceeding = false
    /// The number of bytes that the server has been told of.
    private(set) var heldByteCount = 0

    init(
        _ descriptor: consuming Descriptor, peer: PeerCredentials, scope: ClientScope, limits: ConnectionLimits,
        overrun: Reply, loop: EventLoop, handlers: Handlers
    ) throws(SystemdError) {
        self.peer = peer
        self.scope = scope
        self.descriptor = descriptor
        self.handlers = handlers
        state = ServerConnection(limits: limits, overrunReply: overrun)
        source = try loop.watch(descriptor: self.descriptor.rawValue, events: .readable) { [weak self] events in
            self?.ready(events)
        }
    }

    /// What the client has at most, and so what is launched on its behalf.
    var confinement: Confinement {
        guard peer.process != PeerCredentials.outsideProcess else { return .unknown }
        return Confinement(of: peer.process, knownAt: acceptTime) ?? .unknown
    }

    /// Whether it waits for a reply of ours.
    var isBusy: Bool { state.outstandingCall != nil }

    /// The number of the socket, for keeping it across execve(2).
    var number: Int32 { descriptor.rawValue }

    var hasPendingOutput: Bool { state.pendingOutputCount > 0 }

    /// Sends a reply to a call, now or as soon as the socket takes it.
    func send(_ reply: Reply, to call: Call.ID) {
        if !reply.continues { isSubscribed = false }
        state.send(reply, to: call)
        proceed()
    }

    /// Ends the connection with what waits in it.
    func close() {
        guard let source else { return }
        source.cancel()
        self.source = nil
        handlers.closed(self)
    }

    /// Tells the server how much more or less the connection holds; the server may close it for that.
    private func accountForMemory() {
        let change = state.heldByteCount - heldByteCount
        guard change != 0, source != nil else { return }
        heldByteCount += change
        handlers.held(change, self)
    }

    private func ready(_ events: IOEvents) {
        if !events.isDisjoint(with: [.readable, .hangUp, .error]), !read() { return close() }
        proceed()
        // A peer that is gone in both directions hears of no reply any more, and epoll(7) would tell of its end again and again.
        if events.contains(.hangUp), state.inputEnded { close() }
    }

    /// Takes the calls that are there, one after the other, and writes what the socket takes.
    private func proceed() {
        // A call that is answered at once comes here again from the middle of taking calls.
        guard source != nil, !isProceeding else { return }
        isProceeding = true
        defer {
            isProceeding = false
            accountForMemory()
        }
        while takeCalls() && write() && !isBusy {}
        guard write() || source != nil else { return }
        if state.isFinished { return close() }
        var events: IOEvents = []
        if state.wantsInput { events.insert(.readable) }
        if state.pendingOutputCount > 0 { events.insert(.writable) }
        source?.events = events
    }

    /// - Returns: Whether there was a call; then there may be another one when what waits is written.
    private func takeCalls() -> Bool {
        var found = false
        do throws(ProtocolViolation) {
            while source != nil, let call = try state.nextCall(of: handlers.service) {
                found = true
                handlers.call(call, self)
            }
        } catch {
            handlers.violation(error, self)
        }
        return found
    }

    /// Reads once: who sends more has another turn after the others.
    ///
    /// - Returns: Whether the connection can go on.
    private func read() -> Bool {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, filled in
            unsafe count = recv(descriptor.rawValue, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            filled = max(0, count)
        }
        guard count != 0 else {
            state.endOfInput()
            return true
        }
        guard count > 0 else { return errno == EAGAIN || errno == EINTR }
        state.receive(bytes)
        return true
    }

    /// - Returns: Whether everything was written and the connection can go on.
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
