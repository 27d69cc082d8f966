import CLinux
import Glibc

/// A connected AF_UNIX stream socket, with waits that end at a deadline.
final class Socket {
    let descriptor: CInt

    /// Connects before the deadline.
    static func connected(to path: String, deadline: Deadline) throws(ClientError) -> Socket {
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
        let socket = Socket(descriptor: descriptor)
        try socket.connect(to: path, deadline: deadline)
        return socket
    }

    private init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    private func connect(to path: String, deadline: Deadline) throws(ClientError) {
        // With a full backlog connect(2) waits for as long as the send timeout (unix(7)).
        while true {
            try setSendTimeout(deadline.remaining())
            switch unsafe -linux_connect_path(descriptor, path, path.utf8.count) {
            case 0: return
            case EINTR: continue
            case EAGAIN: throw .timedOut
            case let error: throw .cannotConnect(path: path, errno: error)
            }
        }
    }

    /// The effective user that the peer had when it began to listen (SO_PEERCRED of unix(7)); nil if the kernel does not tell.
    var peerUser: UInt32? {
        var peer = linux_peer()
        let result = unsafe linux_peer_credentials(descriptor, &peer)
        return result == 0 && peer.user != .max ? peer.user : nil
    }

    private func setSendTimeout(_ duration: Duration?) throws(ClientError) {
        guard let duration else { return }
        let (seconds, attoseconds) = duration.components
        // Zero would mean forever.
        var time = timeval(tv_sec: Int(seconds), tv_usec: max(1, Int(attoseconds / 1_000_000_000_000)))
        let result = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        guard result == 0 else { throw .system(call: "setsockopt", errno: errno) }
    }

    func send(_ bytes: [UInt8], deadline: Deadline) throws(ClientError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[sent...])
                return unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, Self.flags)
            }
            if count >= 0 {
                sent += count
                continue
            }
            try recover("send", errno, POLLOUT, deadline)
        }
    }

    /// Tells the peer that nothing more comes.
    func endOutput() { _ = shutdown(descriptor, CInt(SHUT_WR)) }

    /// Waits for bytes, and appends them.
    ///
    /// - Returns: False if the peer has closed the connection.
    func receive(into buffer: inout MessageBuffer, deadline: Deadline) throws(ClientError) -> Bool {
        while true {
            var error: Int32 = 0
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { storage, length in
                count = unsafe recv(descriptor, storage.baseAddress, storage.count, Self.flags)
                error = errno
                length = max(0, count)
            }
            if count >= 0 {
                buffer.append(bytes)
                return count > 0
            }
            try recover("recv", error, POLLIN, deadline)
        }
    }

    private static let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)

    /// Waits after EAGAIN, and throws for all errors but EINTR.
    private func recover(
        _ call: String, _ error: Int32, _ event: Int32, _ deadline: Deadline
    ) throws(ClientError) {
        switch error {
        case EAGAIN: try wait(for: event, deadline)
        case EINTR: return
        case EPIPE, ECONNRESET: throw .closed
        default: throw .system(call: call, errno: error)
        }
    }

    private func wait(for event: Int32, _ deadline: Deadline) throws(ClientError) {
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        let result = unsafe poll(&entry, 1, try deadline.pollTimeout())
        guard result >= 0 || errno == EINTR else { throw .system(call: "poll", errno: errno) }
    }
}

/// Returns the time of CLOCK_MONOTONIC, which stops while the machine sleeps.
package func monotonicTime() -> Duration {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

/// An instant on the monotonic clock by which something must be done, or never.
struct Deadline {
    /// The instant by ``monotonicTime()``.
    private let instant: Duration?

    init(after duration: Duration?) {
        instant = duration.map { monotonicTime() + min($0, Self.longest) }
    }

    /// A limit that keeps sums from overflowing.
    private static let longest = Duration.seconds(365 * 24 * 3600)

    /// Returns the time that is left.
    ///
    /// - Throws: ``ClientError/timedOut`` after the deadline.
    func remaining() throws(ClientError) -> Duration? {
        guard let instant else { return nil }
        let left = instant - monotonicTime()
        guard left > .zero else { throw .timedOut }
        return left
    }

    /// Returns the time that is left for poll(2), in milliseconds rounded up; -1 for no limit.
    func pollTimeout() throws(ClientError) -> Int32 {
        guard let left = try remaining() else { return -1 }
        let (seconds, attoseconds) = left.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1
        return Int32(clamping: milliseconds)
    }
}
