import AppChannel
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The connections of connected apps that the daemon does not manage. An app that is adopted gets its channel by one of them.
final class UnmanagedApps {
    private struct Waiting {
        let peer: PeerConnection
        let source: IOSource
        /// False once `unmanaged` has been sent.
        var awaitsHello: Bool
    }

    private static let watched: IOEvents = [.peerClosed, .edgeTriggered]

    private let events: Events
    /// The connections in the order in which they came.
    private var waiting: [Waiting] = []
    private var holders = ConnectionHolders()

    init(events: Events) { self.events = events }

    /// Tells a process that no app has it, and keeps its connection. If there are too many, closes another one, of the
    /// holder with the most connections.
    ///
    /// - Parameter awaitsHello: Whether the process is told only when it has sent a hello that resumes no channel.
    func add(_ peer: PeerConnection, awaitsHello: Bool = false) {
        let process = peer.credentials.process
        let holder = ConnectionHolders.Holder(
            user: peer.credentials.user, unit: RunningProcess.unit(of: process) ?? "",
            process: process)
        let (number, watched) = (peer.number, awaitsHello ? Self.watched.union(.readable) : Self.watched)
        guard let source = try? events.watch(number, for: watched, { .unmanaged(number, $0) }) else { return }
        while let number = holders.surplus(for: holder) { remove(number) }
        holders.insert(peer.number, of: holder)
        waiting.append(Waiting(peer: peer, source: source, awaitsHello: awaitsHello))
        if !awaitsHello { peer.send(.unmanaged) }
    }

    /// Removes and returns the oldest connection of a living process that satisfies the condition.
    func take(where isWanted: (ProcessID) -> Bool) -> PeerConnection? {
        let found = waiting.first { entry in
            let isWanted = isWanted(entry.peer.credentials.process)
            // The process still has the number by which it was judged.
            return isWanted && entry.peer.lives
        }
        if let found { remove(found.peer.number) }
        return found?.peer
    }

    /// Reads a hello, or the end of a connection.
    ///
    /// - Returns: The connection if its hello resumes a channel; it is removed then.
    func read(_ number: Int32, _ ready: IOEvents) -> PeerConnection? {
        guard ready.isDisjoint(with: [.peerClosed, .hangUp, .error]) else {
            remove(number)
            return nil
        }
        guard let position = waiting.firstIndex(where: { $0.peer.number == number }), waiting[position].awaitsHello,
            let line = waiting[position].peer.peekLine()
        else { return nil }
        let peer = waiting[position].peer
        if case .hello(_, _?)? = try? MessageFromApp(parsing: line) {
            remove(number)
            return peer
        }
        waiting[position].awaitsHello = false
        waiting[position].source.events = Self.watched
        peer.send(.unmanaged)
        return nil
    }

    private func remove(_ number: Int32) {
        holders.remove(number)
        guard let position = waiting.firstIndex(where: { $0.peer.number == number }) else { return }
        waiting.remove(at: position).source.cancel()
    }
}

/// The holders of the connections to the socket for apps: which one is closed if there are too many.
///
/// One program, with any number of processes, must not keep out the others of its user, and one user not those of others.
struct ConnectionHolders {
    /// The process that has connected, its unit of systemd, and its user.
    struct Holder: Hashable {
        let user: uid_t
        let unit: String
        let process: ProcessID
    }

    /// The number of connections of all users, and of one user.
    static let limit = 256
    static let userLimit = 64

    /// The connections in the order in which they came.
    private var connections: [(number: Int32, holder: Holder)] = []

    mutating func insert(_ number: Int32, of holder: Holder) { connections.append((number, holder)) }
    mutating func remove(_ number: Int32) { connections.removeAll { $0.number == number } }

    /// Returns the connection to close before the holder gets one more; nil if there is room.
    ///
    /// It is the oldest of the process, in the unit, of the user, with the most connections each.
    func surplus(for holder: Holder) -> Int32? {
        let ofUser = connections.filter { $0.holder.user == holder.user }
        guard ofUser.count < Self.userLimit else { return Self.oldestOfGreatest(in: ofUser) }
        guard connections.count >= Self.limit else { return nil }
        return Self.oldestOfGreatest(in: Self.greatest(of: connections, by: \.user))
    }

    private static func oldestOfGreatest(in connections: [(number: Int32, holder: Holder)]) -> Int32? {
        greatest(of: greatest(of: connections, by: \.unit), by: \.process).first?.number
    }

    /// Returns the connections with the most common value; of several values, that of the first connection.
    private static func greatest(
        of connections: [(number: Int32, holder: Holder)], by key: (Holder) -> some Hashable
    ) -> [(number: Int32, holder: Holder)] {
        let parts = Dictionary(grouping: connections.enumerated()) { AnyHashable(key($0.element.holder)) }
        let greatest = parts.values.max {
            ($0.count, $1.first?.offset ?? 0) < ($1.count, $0.first?.offset ?? 0)
        }
        return greatest?.map(\.element) ?? []
    }
}
