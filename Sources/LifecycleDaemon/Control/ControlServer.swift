import CLinux
import Glibc
import Processes
import Systemd
import Varlink

/// Accepts clients, keeps their number within the limit, and passes their calls on.
final class ControlServer {
    /// What becomes of calls.
    struct Handler {
        let service: Service
        /// What ends a subscription whose reader is too slow.
        let overrun: Reply
        /// What a process may ask for.
        let scope: (ProcessID) -> ClientScope
        let call: (Call, ControlConnection) -> Void
        let closed: (ControlConnection) -> Void
    }

    private let loop: EventLoop
    private let socket: ControlSocket
    private let log: Log
    var access: AccessPolicy
    private let handler: Handler
    private var connections: [ObjectIdentifier: ControlConnection] = [:]
    private var listener: IOSource?
    private var retry: TimerSource?
    private var activity: UInt64 = 0
    /// Whether nobody could be let in at the last try.
    private var isPaused = false
    /// For the process that connects, and for two files of it.
    private let reserve = DescriptorReserve(count: 3)
    /// How long those who wait are left alone when there is no descriptor for them, in microseconds.
    private static let retryDelay: UInt64 = 250_000

    /// How much a client that connects from now on may make the daemon hold.
    var limits = ConnectionLimits()
    /// How many clients there may be at a time.
    var clientLimit = 1024
    /// How many bytes all clients together may make the daemon hold.
    var totalBytesLimit = 16 << 20
    /// How many bytes the connections hold.
    private var heldByteCount = 0

    init(
        loop: EventLoop, socket: consuming ControlSocket, log: Log, access: AccessPolicy, handler: Handler
    ) throws(SystemdError) {
        self.loop = loop
        self.socket = socket
        self.log = log
        self.access = access
        self.handler = handler
        listener = try loop.watch(descriptor: self.socket.descriptor.rawValue, events: .readable) { [weak self] _ in
            self?.accept()
        }
        retry = try loop.timer { [weak self] in self?.listener?.isEnabled = true }
    }

    var clientCount: Int { connections.count }

    /// Leaves the socket and the lock to the program that takes the place of this one.
    func leave(to reexecution: inout Reexecution) { socket.leave(to: &reexecution) }

    /// A Boolean value that indicates whether a client, apart from subscribers, waits for a reply or for the rest of one.
    ///
    /// - Parameter client: One that does not count.
    func hasPendingReplies(except client: ControlConnection?) -> Bool {
        connections.values.contains { connection in
            connection !== client && (connection.hasPendingOutput || (connection.isBusy && !connection.isSubscribed))
        }
    }

    /// Ends all connections, and removes the socket if it was made here.
    func close() {
        listener?.cancel()
        for connection in connections.values { connection.close() }
        if let path = socket.ownPath { _ = unsafe unlink(path) }
    }

    /// Takes some of those who wait, and leaves time for those who are there.
    private func accept() {
        for _ in 0..<64 {
            let result = linux_accept(socket.descriptor.rawValue)
            switch -result {
            case ...0: admit(Descriptor(owning: result))
            case EMFILE, ENFILE:
                guard somebodyWaits else { return }
                guard makeRoom() else { return pauseListening(Processes.Errno(rawValue: -result)) }
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return
            // The socket stays readable, and would keep the loop from its sleep.
            default: return pauseListening(Processes.Errno(rawValue: -result))
            }
        }
    }

    /// Without a descriptor to spare, accept(2) fails before it has looked whether there is anybody.
    private var somebodyWaits: Bool {
        var request = pollfd(fd: socket.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) == 1
    }

    private func admit(_ descriptor: consuming Descriptor) {
        isPaused = false
        guard let peer = PeerCredentials(of: descriptor.rawValue) else { return }
        if connections.count >= clientLimit, !makeRoom() { return }
        let number = descriptor.rawValue
        let scope = reserve.lend { self.scope(of: peer, on: number) }
        let handlers = ControlConnection.Handlers(
            service: handler.service,
            call: { [weak self] call, connection in self?.take(call, from: connection) },
            violation: { [weak self] violation, connection in self?.reportDrop(of: connection, violation.description) },
            held: { [weak self] change, _ in self?.accountForMemory(change) },
            closed: { [weak self] connection in self?.forget(connection) })
        let connection = try? ControlConnection(
            descriptor, peer: peer, scope: scope, limits: limits, overrun: handler.overrun, loop: loop,
            handlers: handlers)
        guard let connection else { return }
        connections[ObjectIdentifier(connection)] = connection
        touch(connection)
    }

    private func scope(of peer: PeerCredentials, on socket: Int32) -> ClientScope {
        if peer.process == PeerCredentials.outsideProcess { return rights(of: peer) }
        guard let process = PeerProcess(of: socket, number: peer.process) else { return .nothing }
        let scope = handler.scope(peer.process)
        guard process.lives else { return .nothing }
        return scope == .everything ? rights(of: peer) : scope
    }

    /// The scope of a program that is no app's.
    private func rights(of peer: PeerCredentials) -> ClientScope {
        switch access.right(of: peer) {
        case .administrator: .everything
        // A call of a client without any right is refused by the same policy.
        case .member, .none: .member(peer.user)
        }
    }

    /// Closes the connections of clients that have other rights now than when they connected.
    func reviewRights() {
        for connection in connections.values {
            switch connection.scope {
            case .everything, .member:
                let hasRight = access.right(of: connection.peer) != .none
                if hasRight, rights(of: connection.peer) == connection.scope { continue }
                reportDrop(of: connection, "its user has other rights since the configuration was read")
                connection.close()
            case .launcher, .app, .nothing: continue
            }
        }
    }

    private func touch(_ connection: ControlConnection) {
        activity += 1
        connection.lastActivity = activity
    }

    private func take(_ call: Call, from connection: ControlConnection) {
        touch(connection)
        guard access.right(of: connection.peer) != .none else {
            return refuse(call, from: connection, "the user may not call")
        }
        guard connection.scope != .nothing else {
            return refuse(call, from: connection, "whose process it is cannot be told; it may not call")
        }
        handler.call(call, connection)
    }

    /// Drops the clients that hold most until all together hold no more than they may.
    private func accountForMemory(_ change: Int) {
        heldByteCount += change
        while heldByteCount > totalBytesLimit,
            let largest = connections.values.max(by: { $0.heldByteCount < $1.heldByteCount })
        {
            reportDrop(of: largest, "it holds \(largest.heldByteCount) of \(totalBytesLimit) bytes for all clients")
            largest.close()
        }
    }

    /// Answers a call that its client may not make, and takes note of it.
    func refuse(_ call: Call, from connection: ControlConnection, _ why: String) {
        let peer = connection.peer
        log.write(
            LogEntry(
                id: .requestRefused, priority: .notice,
                message: "process \(peer.process) of user \(peer.user) was refused: \(why) \(call.method)",
                fields: [
                    ("LIFED_CLIENT_UID", String(peer.user)), ("LIFED_CLIENT_PID", String(peer.process)),
                    ("LIFED_REASON", "\(why) \(call.method)"),
                ]),
            causedBy: .user(peer.user))
        connection.send(ServiceError.permissionDenied.reply, to: call.id)
    }

    private func reportDrop(of connection: ControlConnection, _ reason: String) {
        let peer = connection.peer
        log.write(
            LogEntry(
                id: .clientDropped, priority: .notice, message: "a client is dropped: \(reason)",
                fields: [
                    ("LIFED_CLIENT_UID", String(peer.user)), ("LIFED_CLIENT_PID", String(peer.process)),
                    ("LIFED_REASON", reason),
                ]),
            causedBy: .user(peer.user))
    }

    private func forget(_ connection: ControlConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        heldByteCount -= connection.heldByteCount
        handler.closed(connection)
        listener?.isEnabled = true
    }

    /// Drops the eighth of the clients that has been idle longest, or else the oldest subscriber, apps before people: no app is to
    /// put anybody else out. Whoever waits for a reply stays. Dropping several at once keeps a crowd from costing a search for
    /// each who comes.
    ///
    /// - Returns: Whether there is room now.
    private func makeRoom() -> Bool {
        let idle = connections.values.filter { !$0.isBusy }.sorted { Self.goes($0, before: $1) }
        for connection in idle.prefix(max(1, clientLimit / 8)) { connection.close() }
        guard idle.isEmpty else { return true }
        let oldest = connections.values.filter(\.isSubscribed).min { Self.goes($0, before: $1) }
        oldest?.close()
        return oldest != nil
    }

    private static func goes(_ one: ControlConnection, before other: ControlConnection) -> Bool {
        if one.scope.isPersons != other.scope.isPersons { return other.scope.isPersons }
        return one.lastActivity < other.lastActivity
    }

    /// Without a descriptor or memory to spare nobody can be let in. The next client who leaves makes room; an app that ends or
    /// another program may, too, and nobody tells of that.
    private func pauseListening(_ error: Processes.Errno) {
        if !isPaused { log.write(LogEntry(priority: .warning, message: "clients have to wait: \(error)")) }
        isPaused = true
        listener?.isEnabled = false
        retry?.arm(atMicroseconds: loop.freshNow + Self.retryDelay)
    }
}
