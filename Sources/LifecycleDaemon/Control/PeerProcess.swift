import CLinux
import Glibc
import Processes

/// The process that made a connection, held so that its number cannot become another's unnoticed.
struct PeerProcess: ~Copyable {
    private let descriptor: Descriptor

    /// Nil when the process has ended, or when there is no descriptor for it.
    ///
    /// Before Linux 6.5 it is found by its number, which might be another's if the process has ended and all numbers
    /// were given out since it connected.
    init?(of socket: Int32, number: pid_t) {
        var result = linux_peer_pidfd(socket)
        if result == -ENOPROTOOPT { result = linux_pidfd_open(number) }
        guard result >= 0 else { return nil }
        descriptor = Descriptor(owning: result)
    }

    /// Whether it has not ended: then whatever was found under its number so far was about it.
    var lives: Bool { linux_pidfd_has_ended(descriptor.rawValue) == 0 }
}
