import CLinux
import Glibc
import Processes

/// A listening AF_UNIX stream socket with a path.
enum UnixListener {
    /// Makes the socket, and replaces a former one.
    ///
    /// - Parameter group: The group of the file; nil for that of the process.
    static func open(at path: String, mode: mode_t, group: gid_t? = nil) throws(DaemonError) -> Descriptor {
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, Int32(flags), 0)
        guard number >= 0 else { throw failure("make", path) }
        let socket = Descriptor(owning: number)
        _ = unsafe unlink(path)
        // The narrowest mode until the right one is set: no other user connects before.
        let mask = umask(0o177)
        let result = unsafe linux_bind_path(number, path, path.utf8.count)
        umask(mask)
        guard result == 0 else { throw failure("listen at", path, -result) }
        if let group, unsafe chown(path, geteuid(), group) != 0 { throw failure("change the group of", path) }
        guard unsafe chmod(path, mode) == 0 else { throw failure("set the mode of", path) }
        guard listen(number, SOMAXCONN) == 0 else { throw failure("listen at", path) }
        return socket
    }

    private static func failure(_ operation: String, _ path: String, _ error: Int32 = errno) -> DaemonError {
        DaemonError(.start, "cannot \(operation) \(path)", errno: Errno(rawValue: error))
    }
}

/// The process at the other end of a connection, identified by the kernel (unix(7)).
struct PeerCredentials: Equatable {
    let process: pid_t
    let user: uid_t
    let group: gid_t
    /// The supplementary groups at the time of the connection (SO_PEERGROUPS, Linux 4.13).
    let groups: [gid_t]

    /// The pid of a process in another PID namespace.
    static let outsideProcess: pid_t = 0

    private static let mostGroups = 65536

    init?(of descriptor: Int32) {
        var peer = linux_peer()
        guard unsafe linux_peer_credentials(descriptor, &peer) == 0 else { return nil }
        process = peer.process
        user = peer.user
        group = peer.group
        groups =
            Self.groups(of: descriptor, capacity: 64) ?? Self.groups(of: descriptor, capacity: Self.mostGroups) ?? []
    }

    private static func groups(of descriptor: Int32, capacity: Int) -> [gid_t]? {
        var groups = [gid_t](repeating: 0, count: capacity)
        let count = unsafe linux_peer_groups(descriptor, &groups, Int32(capacity))
        return count < 0 ? nil : Array(groups.prefix(Int(count)))
    }
}

/// The senders of what comes on a connected socket that several processes may have inherited.
enum SocketSenders {
    /// Has the kernel tell the sender of what is sent from now on, or no more.
    ///
    /// - Returns: Whether it does.
    static func identify(_ identifies: Bool, on descriptor: Int32) -> Bool {
        linux_identify_senders(descriptor, identifies) == 0
    }

    /// Receives bytes of one sender, without waiting. The sender is nil if the kernel does not know it.
    ///
    /// - Returns: The number of bytes, or -1 with errno.
    static func receive(
        _ buffer: UnsafeMutableRawBufferPointer, flags: Int32, on descriptor: Int32
    ) -> (count: Int, sender: ProcessID?) {
        var process: pid_t = 0
        let count = unsafe linux_receive_from_sender(descriptor, buffer.baseAddress, buffer.count, flags, &process)
        return (count, process > 0 ? process : nil)
    }
}

/// The process that made a connection, held by a pidfd so that a reuse of its pid is noticed.
struct PeerProcess: ~Copyable {
    private let descriptor: Descriptor

    /// Nil if the process has ended, or there is no descriptor.
    ///
    /// Before Linux 6.5 the process is found by its pid, which may have been reused if all pids were given out since it
    /// connected.
    init?(of socket: Int32, number: pid_t) {
        var result = linux_peer_pidfd(socket)
        if result == -ENOPROTOOPT { result = linux_pidfd_open(number) }
        guard result >= 0 else { return nil }
        descriptor = Descriptor(owning: result)
    }

    /// A Boolean value that indicates whether the process has not ended. Then everything read by its pid so far was about it.
    var lives: Bool { linux_pidfd_has_ended(descriptor.rawValue) == 0 }

    /// A Boolean value that indicates whether the process is in the PID namespace of this one, as far as it can be looked
    /// at.
    var isInOwnNamespace: Bool {
        guard let text = try? SmallFile.read("/proc/self/fdinfo/\(descriptor.rawValue)") else { return false }
        return Self.isInOwnNamespace(information: text)
    }

    /// Returns whether a process is in the namespace of `/proc`, by what the kernel tells about its pidfd.
    ///
    /// The line NSpid has the number of the process there, and one more for each namespace below it.
    static func isInOwnNamespace(information text: String) -> Bool {
        let lines = text.split(separator: "\n").map { $0.split { $0 == "\t" || $0 == " " } }
        // A kernel without PID namespaces does not write the line.
        guard let numbers = lines.first(where: { $0.first == "NSpid:" })?.dropFirst() else {
            return lines.contains { $0.first == "Pid:" }
        }
        return numbers.count == 1 && numbers.allSatisfy { pid_t($0).map { $0 > 0 } ?? false }
    }
}

/// Reserved descriptors, so that the daemon can identify a client that has used up all others.
final class DescriptorReserve {
    private var reserved: [Int32] = []
    private let count: Int

    init(count: Int) {
        self.count = count
        fill()
    }

    isolated deinit { release() }

    func lend<Result>(to work: () -> Result) -> Result {
        release()
        defer { fill() }
        return work()
    }

    private func release() {
        for descriptor in reserved { close(descriptor) }
        reserved = []
    }

    private func fill() {
        while reserved.count < count {
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            reserved.append(descriptor)
        }
    }
}
