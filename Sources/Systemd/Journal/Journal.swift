import CLinux
import CSystemd
import Glibc

/// The system's journal, as a client: sd-journal(3) of libsystemd.
public final class Journal {
    /// The importance of an entry: the levels of syslog(3).
    public enum Priority: Int32, Sendable {
        /// The system is unusable.
        case emergency = 0
        /// An administrator has to act at once.
        case alert = 1
        /// Something essential failed.
        case critical = 2
        /// Something failed.
        case error = 3
        /// Something is likely to fail.
        case warning = 4
        /// Normal, and worth knowing.
        case notice = 5
        /// Normal.
        case info = 6
        /// For the search for a mistake.
        case debug = 7
    }

    /// Where journald listens for structured entries (systemd-journald.service(8)).
    public static let socketPath = "/run/systemd/journal/socket"

    private let probe: DatagramProbe

    /// Makes a client; nothing is connected until it is used.
    public convenience init() {
        self.init(socketPath: Journal.socketPath)
    }

    init(socketPath: String) {
        probe = DatagramProbe(path: socketPath)
    }

    /// A Boolean value that indicates whether journald can be reached.
    public var isAvailable: Bool {
        if case .absent = probe.peer() { return false }
        return true
    }

    /// Writes one entry.
    ///
    /// It does not wait for a journald that does not read: the entry is lost then, and the result says so.
    ///
    /// - Parameter fields: The fields, one of them `MESSAGE`, with names that journald accepts (systemd.journal-fields(7)).
    /// - Returns: nil when journald has the entry, or why it does not: `EAGAIN` when journald does not keep up,
    ///   `ENOENT` or `ECONNREFUSED` when there is none, `EINVAL` for an entry without fields.
    @discardableResult
    public func send(_ fields: [(name: String, value: String)]) -> SystemdError? {
        switch probe.peer() {
        case .ready: break
        case .full: return Journal.failure(EAGAIN)
        case .absent(let errno): return Journal.failure(errno)
        }
        guard !fields.isEmpty else { return Journal.failure(EINVAL) }
        var bytes: [UInt8] = []
        let ranges = fields.map { field in
            let start = bytes.count
            bytes += "\(field.name)=\(field.value)".utf8
            return start..<bytes.count
        }
        let result = unsafe bytes.withUnsafeMutableBytes { bytes in
            let vectors = unsafe ranges.map { range in
                unsafe iovec(iov_base: bytes.baseAddress?.advanced(by: range.lowerBound), iov_len: range.count)
            }
            return unsafe csystemd_journal_send(vectors, Int32(clamping: vectors.count))
        }
        return result < 0 ? Journal.failure(result) : nil
    }

    /// Makes a stream whose lines become entries with the given identifier, for the output of an app.
    ///
    /// - Parameters:
    ///   - identifier: The name that `journalctl -t` selects by and shows in front of each line.
    ///   - priority: The level of every line; prefixes such as `<3>` in the app's output change nothing.
    /// - Returns: The descriptor of the stream, to be written to.
    /// - Throws: `SystemdError` when there is no journald, or it takes no more streams.
    public func streamDescriptor(identifier: String, priority: Priority) throws(SystemdError) -> OwnedDescriptor {
        let descriptor = unsafe sd_journal_stream_fd(identifier, priority.rawValue, 0)
        try checked(descriptor, "open a journal stream for \(identifier)")
        return OwnedDescriptor(owning: descriptor)
    }

    private static func failure(_ errno: Int32) -> SystemdError {
        SystemdError(operation: "write to the journal", errno: errno)
    }
}

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
