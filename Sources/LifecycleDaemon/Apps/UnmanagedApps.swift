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
    }

    /// The number of connections of all users, and of one user.
    private static let limit = 256
    private static let userLimit = 64

    private let loop: EventLoop
    private var waiting: [Int32: Waiting] = [:]

    init(loop: EventLoop) { self.loop = loop }

    /// Tells a process that no app has it, and keeps its connection. Closes the connection if there are too many.
    func add(_ peer: PeerConnection) {
        let user = peer.credentials.user
        guard waiting.count < Self.limit,
            waiting.values.count(where: { $0.peer.credentials.user == user }) < Self.userLimit,
            let source = try? loop.watch(
                descriptor: peer.number, events: [.peerClosed, .edgeTriggered],
                handler: { [weak self, number = peer.number] _ in self?.remove(number) })
        else { return }
        waiting[peer.number] = Waiting(peer: peer, source: source)
        peer.send(.unmanaged)
    }

    /// Removes and returns the first connection of a living process that satisfies the condition.
    func take(where isWanted: (ProcessID) -> Bool) -> PeerConnection? {
        let found = waiting.sorted { $0.key < $1.key }.first { _, entry in
            let isWanted = isWanted(entry.peer.credentials.process)
            // The process still has the number by which it was judged.
            return isWanted && entry.peer.lives
        }
        guard let found else { return nil }
        remove(found.key)
        return found.value.peer
    }

    private func remove(_ number: Int32) { waiting.removeValue(forKey: number)?.source.cancel() }
}
