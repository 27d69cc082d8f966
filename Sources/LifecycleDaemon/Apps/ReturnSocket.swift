import CLinux
import Glibc
import Processes
import Systemd

/// Where apps come back whose channel was lost with a daemon that died.
///
/// The kernel says who connects; whoever is not a process of an app has no business here and is not answered.
final class ReturnSocket {
    private let path: String
    private let descriptor: Descriptor
    private let admit: (consuming Descriptor, ProcessID) -> Void
    private var source: IOSource?

    /// How many are looked at in a row, so that a crowd leaves time for the others.
    private static let turn = 16

    /// - Parameter admit: Takes a connection of a process that is held, so that its number is still its own.
    init(
        at path: String, mode: mode_t, loop: EventLoop, admit: @escaping (consuming Descriptor, ProcessID) -> Void
    ) throws {
        self.path = path
        self.admit = admit
        descriptor = try UnixListener.open(at: path, mode: mode)
        source = try loop.watch(descriptor: descriptor.rawValue, events: .readable) { [weak self] _ in self?.accept() }
    }

    /// Removes the socket.
    func close() {
        source?.cancel()
        _ = unsafe unlink(path)
    }

    private func accept() {
        for _ in 0..<Self.turn {
            let number = linux_accept(descriptor.rawValue)
            guard number >= 0 else { return }
            take(Descriptor(owning: number))
        }
    }

    private func take(_ connection: consuming Descriptor) {
        let number = connection.rawValue
        guard let peer = PeerCredentials(of: number), let process = PeerProcess(of: number, number: peer.process),
            process.lives
        else { return }
        admit(connection, peer.process)
        extendLifetime(process)
    }
}
