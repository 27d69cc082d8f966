import CLinux
import Glibc
import Systemd

/// A connection to an AF_UNIX stream socket of another program. It wakes the loop.
@MainActor final class LocalSocket {
    private let descriptor: CInt
    private let wake: IOSource

    /// The time for which the backlog or the buffer of the program may be full, in seconds.
    private static let patience = 5

    init(path: String, loop: EventLoop) throws(SourceLost) {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SourceLost(reason: "socket: \(errnoText(errno))") }
        var time = timeval(tv_sec: Self.patience, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        do throws(SourceLost) {
            let result = unsafe linux_connect_path(descriptor, path, path.utf8.count)
            guard result == 0 else { throw SourceLost(reason: "\(path): \(errnoText(-result))") }
            wake = try loop.wake(by: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    isolated deinit {
        wake.cancel()
        close(descriptor)
    }

    func send(_ bytes: [UInt8]) throws(SourceLost) {
        let sent = unsafe Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        guard sent == bytes.count else {
            throw SourceLost(reason: sent < 0 ? errnoText(errno) : "it takes no requests")
        }
    }

    /// Reads the bytes that have come, without waiting.
    func read() throws(SourceLost) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { storage, length in
            count = unsafe recv(descriptor, storage.baseAddress, storage.count, CInt(MSG_DONTWAIT))
            length = max(0, count)
        }
        if count == 0 { throw SourceLost(reason: "it closed the connection") }
        if count < 0, errno != EAGAIN, errno != EINTR { throw SourceLost(reason: errnoText(errno)) }
        return bytes
    }
}
