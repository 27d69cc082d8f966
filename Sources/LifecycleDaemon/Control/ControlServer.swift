import CLinux
import DequeModule
import Glibc
import LifecycleCore
import Processes
import Systemd
import Varlink

/// Accepts clients, limits their number and memory, and keeps their calls until they are taken.
final class ControlServer {
    private let owner: (ProcessID) -> ProcessOwner
    private let hasRightsOfUser: (AppID) -> Bool
    /// The calls that are to be handled now.
    private var calls: Deque<ClientCall> = []
    private let events: Events
    private let socket: ControlSocket
    private let log: any JournalSink
    private let service: Service
    /// The reply that ends a subscription whose reader is too slow.
    private let overrun: VarlinkReply
    var access: AccessPolicy
    /// The connections by their numbers, with those that have closed since the last ``takeClosedConnections()``.
    private var connections: [UInt64: ControlConnection] = [:]
    private var admittedCount: UInt64 = 0
    private let listener: IOSource
    private let retry: TimerSource
    private let nextTurn: LaterSource
    /// The calls that take long.
    private var longCalls = CallerTurns()
    private let nextLongCall: LaterSource
    private var activity: UInt64 = 0
    private var isPaused = false
    /// Descriptors for the process that connects, and for two of its files.
    private let reserve = DescriptorReserve(count: 3)
    /// The pause after a failure to accept, in microseconds.
    private static let retryDelay: UInt64 = 250_000

    /// The limits of clients that connect from now on.
    var limits = ConnectionLimits()
    var clientLimit = 1024
    /// The limit of the bytes that the daemon holds for all clients.
    var totalBytesLimit = 16 << 20

    /// - Parameters:
    ///   - owner: Returns the owner of a process that connects.
    ///   - hasRightsOfUser: Returns whether the processes of an app have the rights of their user.
    init(
        events: Events, socket: consuming ControlSocket, log: any JournalSink, access: AccessPolicy,
        service: Service, overrun: VarlinkReply, owner: @escaping (ProcessID) -> ProcessOwner,
        hasRightsOfUser: @escaping (AppID) -> Bool
    ) throws(SystemdError) {
        self.owner = owner
        self.hasRightsOfUser = hasRightsOfUser
        self.events = events
        self.socket = socket
        self.log = log
        self.access = access
        self.service = service
        self.overrun = overrun
        listener = try events.watch(self.socket.descriptor.rawValue, for: .readable) { _ in .clientsConnect }
        retry = try events.timer(.clientsConnect)
        nextTurn = try events.later(.turnsDue)
        nextLongCall = try events.later(.longCallDue)
    }

    private var open: [ControlConnection] { connections.values.filter(\.isOpen) }
    var clientCount: Int { open.count }
    func leave(to reexecution: inout Reexecution) { socket.leave(to: &reexecution) }

    /// Returns whether the files in the runtime directory are those of this daemon.
    func ownsFiles(of paths: DaemonPaths) -> Bool { socket.lock.isInPlace(paths) }

    /// Returns whether a client waits for a reply or the rest of one, subscribers and the given client excepted.
    func hasPendingReplies(except client: ControlConnection?) -> Bool {
        open.contains { connection in
            connection !== client
                && (connection.hasPendingOutput || connection.isAwaitingTurn
                    || (connection.isBusy && !connection.isSubscribed))
        }
    }

    /// Closes all connections, and removes the socket if the daemon made it.
    func close() {
        listener.cancel()
        for connection in connections.values { connection.close() }
        if let path = socket.ownPath { _ = unsafe unlink(path) }
    }

    private static let batchSize = 64

    /// Accepts the clients that connect. The others follow in the next round of the loop.
    func accept() {
        listener.isEnabled = true
        for _ in 0..<Self.batchSize {
            let result = linux_accept(socket.descriptor.rawValue)
            switch -result {
            case ...0: admit(Descriptor(owning: result))
            case EMFILE, ENFILE:
                guard hasWaitingClient else { return }
                guard makeRoom() else { return pauseListening(Errno(rawValue: -result)) }
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return
            // The socket stays readable, and the loop would spin.
            default: return pauseListening(Errno(rawValue: -result))
            }
        }
    }

    /// Without a free descriptor, accept(2) fails before it looks for a client.
    private var hasWaitingClient: Bool {
        var request = pollfd(fd: socket.descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) == 1
    }

    private func admit(_ descriptor: consuming Descriptor) {
        isPaused = false
        guard let peer = PeerCredentials(of: descriptor.rawValue) else { return }
        // Clients without any right displace none of the others.
        if clientCount >= clientLimit, !makeRoom(amongAll: access.right(of: peer) != .none) { return }
        access.remember(peer)
        let number = descriptor.rawValue
        let client = reserve.lend { identify(peer, on: number) }
        admittedCount += 1
        let connection = try? ControlConnection(
            descriptor, id: admittedCount, peer: peer, client: client, limits: limits, overrun: overrun, events: events,
            nextTurn: nextTurn, service: service)
        guard let connection else { return }
        connections[admittedCount] = connection
        touch(connection)
    }

    private func identify(_ peer: PeerCredentials, on socket: Int32) -> ClientIdentity {
        if peer.process == PeerCredentials.outsideProcess { return ClientIdentity(scope: rights(of: peer)) }
        guard let process = PeerProcess(of: socket, number: peer.process) else {
            return ClientIdentity(scope: .nothing)
        }
        let owner = owner(peer.process)
        let isInOwnNamespace = process.isInOwnNamespace
        guard process.lives else { return ClientIdentity(scope: .nothing) }
        return identity(of: peer, ownedBy: owner, isInOwnNamespace: isInOwnNamespace)
    }

    private func identity(
        of peer: PeerCredentials, ownedBy owner: ProcessOwner, isInOwnNamespace: Bool
    ) -> ClientIdentity {
        switch owner {
        case .noApp: ClientIdentity(scope: rights(of: peer), isInOwnNamespace: isInOwnNamespace)
        case .app(let app):
            ClientIdentity(
                scope: hasRightsOfUser(app) ? rights(of: peer) : .app(app), app: app,
                isInOwnNamespace: isInOwnNamespace)
        case .unknown: ClientIdentity(scope: .nothing)
        }
    }

    private func rights(of peer: PeerCredentials) -> ClientScope {
        switch access.right(of: peer) {
        case .administrator: .everything
        // The calls of a client without any right are refused later.
        case .member, .none: .member(peer.user)
        }
    }

    /// Closes the connections of clients whose rights have changed since they connected.
    func reviewRights() {
        access.review()
        for connection in open where !hasRightsAsBefore(connection) {
            let owner = connection.client.app == nil ? "user" : "app"
            reportDrop(of: connection, "the rights of its \(owner) have changed")
            connection.close()
        }
    }

    private func hasRightsAsBefore(_ connection: ControlConnection) -> Bool {
        let (peer, client) = (connection.peer, connection.client)
        if client.scope == .nothing { return true }
        if access.right(of: peer) == .none { return false }
        let owner: ProcessOwner = client.app.map { .app($0) } ?? .noApp
        return identity(of: peer, ownedBy: owner, isInOwnNamespace: client.isInOwnNamespace) == client
    }

    /// Closes the connections of an app that has ended: another program may have them, and the id may become that of another
    /// user's app.
    func closeConnections(of app: AppID) {
        for connection in connections.values where connection.client.app == app { connection.close() }
    }

    private func touch(_ connection: ControlConnection) {
        activity += 1
        connection.lastActivity = activity
    }

    func refuse(_ call: ClientCall, _ reason: String) {
        let peer = call.connection.peer
        report(
            .requestRefused,
            "cannot do \(call.call.method) for process \(peer.process) of user \(peer.user): \(reason); refusing the call",
            peer, reason: reason
        )
        call.answer(ServiceError.permissionDenied.reply)
    }

    private func reportDrop(of connection: ControlConnection, _ reason: String) {
        report(
            .clientDropped,
            "cannot serve process \(connection.peer.process) of user \(connection.peer.user): \(reason); disconnecting it",
            connection.peer, reason: reason)
    }

    private func report(_ id: MessageID, _ message: String, _ peer: PeerCredentials, reason: String) {
        let entry = LogEntry(
            id: id, priority: .notice, message: message,
            fields: [
                ("LIFED_CLIENT_UID", String(peer.user)), ("LIFED_CLIENT_PID", String(peer.process)),
                ("LIFED_REASON", reason),
            ])
        log.write(entry, causedBy: .user(peer.user))
    }

    /// Closes the eighth of the clients that has been idle longest, or else the oldest subscriber; apps before users, so that
    /// an app displaces no other client. If clients without any right are idle, they alone are closed. Clients that wait for a
    /// reply stay, unless they only wait for their turn, and the same caller has most of those. Closing several at once keeps a
    /// crowd of clients from costing a search for each.
    ///
    /// - Parameter amongAll: Whether clients that have a right may be closed.
    /// - Returns: Whether there is room now.
    private func makeRoom(amongAll: Bool = true) -> Bool {
        let candidates = open.filter { !$0.isBusy }
        let strangers = candidates.filter { access.right(of: $0.peer) == .none }
        if strangers.isEmpty, !amongAll { return false }
        let idle = (strangers.isEmpty ? candidates : strangers).sorted { Self.goes($0, before: $1) }
        for connection in idle.prefix(max(1, clientLimit / 8)) { connection.close() }
        guard idle.isEmpty else { return true }
        let waiting = longCalls.connectionsOfLargest.suffix(max(1, clientLimit / 8))
        for connection in waiting {
            connection.close()
            longCalls.removeAll(of: connection)
        }
        guard waiting.isEmpty else { return true }
        let oldest = open.filter(\.isSubscribed).min { Self.goes($0, before: $1) }
        oldest?.close()
        return oldest != nil
    }

    private static func goes(_ one: ControlConnection, before other: ControlConnection) -> Bool {
        if one.scope.isForUser != other.scope.isForUser { return other.scope.isForUser }
        return one.lastActivity < other.lastActivity
    }

    /// Stops accepting without a free descriptor or memory, until a client has gone. An app or another program that ends may
    /// make room, too, of which no event tells: hence the timer.
    private func pauseListening(_ error: Errno) {
        if !isPaused { log.write(.warning, "cannot accept clients: \(error); trying again") }
        isPaused = true
        listener.isEnabled = false
        retry.arm(afterMicroseconds: Self.retryDelay)
    }
}

// MARK: - Events of the connections

extension ControlServer {
    /// Takes the next call that is to be handled.
    func takeCall() -> ClientCall? { calls.popFirst() }

    /// True while connections have ended, or hold too much, that ``takeClosedConnections()`` has not seen.
    var hasClosedConnections: Bool {
        connections.values.contains { !$0.isOpen } || heldByteCount > totalBytesLimit
    }

    /// Forgets the connections that have ended. Closes those that hold most before, until all together hold no more than the limit.
    func takeClosedConnections() -> [ControlConnection] {
        while heldByteCount > totalBytesLimit,
            let largest = open.max(by: { $0.bufferedByteCount < $1.bufferedByteCount })
        {
            reportDrop(of: largest, "it makes the daemon hold \(largest.bufferedByteCount) of \(totalBytesLimit) bytes")
            largest.close()
        }
        let closed = connections.filter { !$0.value.isOpen }
        for (id, connection) in closed {
            connections[id] = nil
            longCalls.removeAll(of: connection)
            listener.isEnabled = true
        }
        return Array(closed.values)
    }

    private var heldByteCount: Int { open.reduce(0) { $0 + $1.bufferedByteCount } }

    /// Reads and writes what the socket of a client is ready for.
    func proceed(with client: UInt64, _ ready: IOEvents) {
        guard let connection = connections[client] else { return }
        pass(from: connection) { () throws(ProtocolViolation) in try connection.proceed(ready) }
    }

    /// Gives the connections that await a turn theirs until there is a call to handle, the one that has waited longest first. The
    /// loop dispatches the events of other clients before the next one.
    func giveTurns() {
        for connection in open.filter(\.isAwaitingTurn).sorted(by: { $0.lastActivity < $1.lastActivity }) {
            guard calls.isEmpty else { return nextTurn.schedule() }
            pass(from: connection) { () throws(ProtocolViolation) in try connection.takeTurn() }
        }
    }

    private func pass(from connection: ControlConnection, by take: () throws(ProtocolViolation) -> ClientCall?) {
        do throws(ProtocolViolation) {
            if let call = try take() { pass(call) }
        } catch {
            reportDrop(of: connection, error.description)
        }
    }

    private func pass(_ call: ClientCall) {
        touch(call.connection)
        guard access.right(of: call.connection.peer) != .none else {
            return refuse(call, access.requirement)
        }
        guard call.scope != .nothing else {
            return refuse(call, "the app of the process is unknown")
        }
        if call.takesLong {
            longCalls.append(call)
            nextLongCall.schedule()
        } else {
            calls.append(call)
        }
    }

    /// Passes one of the calls on that take long. The loop dispatches the events of other clients, and serves the watchdog, before
    /// the next one.
    func passLongCall() {
        guard let call = longCalls.takeNext() else { return }
        if !longCalls.isEmpty { nextLongCall.schedule() }
        calls.append(call)
    }
}

/// The control socket: passed by systemd, or made by the daemon.
struct ControlSocket: ~Copyable {
    let descriptor: Descriptor
    /// The path to remove when the daemon ends; nil for a socket of systemd.
    let ownPath: String?
    let lock: RuntimeLock

    private init(_ descriptor: consuming Descriptor, ownPath: String?, lock: consuming RuntimeLock) {
        self.descriptor = descriptor
        self.ownPath = ownPath
        self.lock = lock
    }

    /// Opens the socket that systemd has passed, or one in the runtime directory.
    ///
    /// - Parameter lock: The lock of the previous program in this process, if there was one.
    static func open(
        passed: [PassedDescriptor], paths: DaemonPaths, isSystem: Bool, lock: Int32? = nil
    ) throws -> ControlSocket {
        // Asks the name service, which may read many files.
        let group = isSystem ? groupToServe() : nil
        try makeRuntimeDirectory(paths, isSystem: isSystem, group: group)
        let lock = try RuntimeLock.acquire(paths, kept: lock)
        if let first = passed.first(where: \.isListeningUnixStream) {
            for other in passed where other.descriptor != first.descriptor { close(other.descriptor) }
            let flags = fcntl(first.descriptor, F_GETFL)
            guard fcntl(first.descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else { throw failure("use", paths.socket) }
            let ownPath = first.name == Reexecution.Name.ownControl ? paths.socket : nil
            return ControlSocket(Descriptor(owning: first.descriptor), ownPath: ownPath, lock: lock)
        }
        let socket = try UnixListener.open(at: paths.socket, mode: group == nil ? 0o600 : 0o660, group: group)
        return ControlSocket(socket, ownPath: paths.socket, lock: lock)
    }

    func leave(to reexecution: inout Reexecution) {
        reexecution.keep(
            descriptor.rawValue, as: ownPath == nil ? Reexecution.Name.control : Reexecution.Name.ownControl)
        reexecution.keep(lock.number, as: Reexecution.Name.lock)
    }

    /// Makes the runtime directory, for this user alone, or also for the group that may use the socket. Apps of all users pass
    /// through that of the system's daemon to their own socket.
    private static func makeRuntimeDirectory(
        _ paths: DaemonPaths, isSystem: Bool, group: gid_t?
    ) throws(DaemonError) {
        let mode: mode_t = !isSystem ? 0o700 : group == nil ? 0o711 : 0o751
        let owner = group.map { (user: geteuid(), group: $0) }
        try PrivateDirectory.make(paths.runtime, mode: mode, owner: owner)
        // Somebody else may have made it with another mode.
        try PrivateDirectory.furnish(paths.runtime, mode: mode, owner: owner)
    }

    /// Returns the group that may use the socket, if this process can give a file to it: as root or as a member. The daemon of
    /// another user serves that user alone.
    private static func groupToServe() -> gid_t? {
        guard let group = AccessPolicy.groupNumber() else { return nil }
        return geteuid() == 0 || getegid() == group || ownGroups().contains(group) ? group : nil
    }

    private static func ownGroups() -> [gid_t] {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = unsafe getgroups(Int32(groups.count), &groups)
        return Array(groups.prefix(max(0, Int(count))))
    }

    private static func failure(_ operation: String, _ path: String) -> DaemonError {
        DaemonError(.start, "cannot \(operation) \(path)", errno: Errno(rawValue: errno))
    }
}
