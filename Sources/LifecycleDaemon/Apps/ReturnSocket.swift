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
    private let loop: EventLoop
    private var source: IOSource?
    private var retry: TimerSource?

    /// How long those who wait are left alone when they cannot be let in, in microseconds.
    private static let retryDelay: UInt64 = 250_000
    /// How many are looked at in a row, so that a crowd leaves time for the others.
    private static let turn = 16

    /// - Parameter admit: Takes a connection of a process that is held, so that its number is still its own.
    init(
        at path: String, mode: mode_t, loop: EventLoop, admit: @escaping (consuming Descriptor, ProcessID) -> Void
    ) throws {
        self.path = path
        self.admit = admit
        self.loop = loop
        descriptor = try UnixListener.open(at: path, mode: mode)
        source = try loop.watch(descriptor: descriptor.rawValue, events: .readable) { [weak self] _ in self?.accept() }
        retry = try loop.timer { [weak self] in self?.source?.isEnabled = true }
    }

    /// Removes the socket.
    func close() {
        source?.cancel()
        _ = unsafe unlink(path)
    }

    private func accept() {
        for _ in 0..<Self.turn {
            let number = linux_accept(descriptor.rawValue)
            switch -number {
            case ...0: take(Descriptor(owning: number))
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return
            default: return pause()
            }
        }
    }

    /// For want of a descriptor or memory. The socket stays readable, and would keep the loop from its sleep.
    private func pause() {
        source?.isEnabled = false
        retry?.arm(atMicroseconds: loop.freshNow + Self.retryDelay)
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
