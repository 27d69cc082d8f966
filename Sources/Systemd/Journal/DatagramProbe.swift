import CLinux
import Glibc

/// A connected datagram socket that only tells whether a listener at a path has room for one more datagram.
///
/// libsystemd writes to the journal with a blocking socket: a journald that is stopped would stop its clients when its queue is full. The
/// kernel reports the socket as writable while there is room (net.unix.max_dgram_qlen).
@MainActor final class DatagramProbe {
    /// The state of the other end.
    enum Peer: Equatable {
        /// A listener that would take a datagram now.
        case ready
        /// A listener whose queue is full.
        case full
        /// No listener; the error number says why.
        case absent(errno: Int32)
    }

    private let path: String
    private var descriptor: Int32?

    init(path: String) {
        self.path = path
    }

    isolated deinit {
        if let descriptor { close(descriptor) }
    }

    /// Asks the kernel, without waiting.
    ///
    /// It connects each time, because poll(2) does not tell that a datagram socket's peer has gone, and a listener
    /// that was replaced has to be found again. Connecting a datagram socket is no more than looking up a path.
    func peer() -> Peer {
        guard let descriptor = socketDescriptor() else { return .absent(errno: errno) }
        let result = unsafe linux_connect_path(descriptor, path, path.utf8.count)
        guard result == 0 else { return .absent(errno: -result) }
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&request, 1, 0) == 1 else { return .full }
        return Int32(request.revents) & POLLOUT != 0 ? .ready : .full
    }

    private func socketDescriptor() -> Int32? {
        if let descriptor { return descriptor }
        let made = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard made >= 0 else { return nil }
        descriptor = made
        return made
    }
}
