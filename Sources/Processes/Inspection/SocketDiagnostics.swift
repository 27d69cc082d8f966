import CLinux
import Glibc

/// A connected socket of unix(7) in the daemon's network namespace, as the kernel describes it: sock_diag(7).
public struct UnixSocket: Hashable, Sendable {
    /// The inode, which `/proc/PID/fd` shows as well.
    public let inode: UInt32
    /// The inode of the socket at the other end.
    public let peer: UInt32
    /// The memory of the kernel that holds what was written here and not read at the other end, in bytes.
    ///
    /// Each write takes 768 bytes at least, whatever its length. The writer waits, or gets EAGAIN, when it reaches ``buffer``.
    public let unread: UInt32
    /// The limit of ``unread``.
    public let buffer: UInt32
    /// The address: at a server's end, that of the socket to which the client has connected. An abstract one begins with a zero.
    public let address: [UInt8]

    /// The number of sockets that are read. Each takes 136 bytes in the meantime.
    private static let limit = 65_536

    /// Returns all connected sockets.
    ///
    /// - Throws: `ENOENT` or `EPROTONOSUPPORT` without the kernel's `CONFIG_UNIX_DIAG`.
    public static func all() throws(Errno) -> [UnixSocket] {
        try read(inode: 0, expected: 1024)
    }

    /// The socket with an inode.
    ///
    /// - Throws: `ENOENT` if there is no such socket.
    public init(inode: UInt32) throws(Errno) {
        guard let socket = try Self.read(inode: inode, expected: 1).first else { throw Errno(rawValue: ENOENT) }
        self = socket
    }

    private init(_ socket: linux_unix_socket) {
        inode = socket.inode
        peer = socket.peer
        unread = socket.unread
        buffer = socket.buffer
        let name = unsafe withUnsafeBytes(of: socket.name) { unsafe Array($0.prefix(socket.name_length)) }
        // A path ends with a zero.
        address = name.first == 0 ? name : Array(name.prefix { $0 != 0 })
    }

    private static func read(inode: UInt32, expected: Int) throws(Errno) -> [UnixSocket] {
        var capacity = expected
        while true {
            var count = 0
            let sockets = unsafe [linux_unix_socket](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = unsafe linux_read_unix_sockets(inode, buffer.baseAddress, capacity)
                initialized = min(max(count, 0), capacity)
            }
            guard count >= 0 else { throw Errno(rawValue: Int32(-count)) }
            if count <= capacity || capacity >= limit { return sockets.map { UnixSocket($0) } }
            // More may have come by the time of the next call.
            capacity = min(count + count / 4, limit)
        }
    }
}

/// A duplicate of another process's socket, to be watched and never read from: pidfd_getfd(2).
///
/// It keeps the connection open when the process ends, so its holder watches the process as well.
public struct ForeignSocket: ~Copyable {
    let socket: Descriptor
    let process: Descriptor

    /// The number of the duplicate in this process.
    public var descriptor: Int32 { socket.rawValue }
    /// A pidfd, which is readable when the process has ended.
    public var processDescriptor: Int32 { process.rawValue }
}

extension ForeignSocket {
    /// Duplicates a socket.
    ///
    /// - Parameters:
    ///   - number: The descriptor of the process.
    ///   - inode: The inode that the socket must have.
    /// - Throws: `EPERM` without the right to trace the process (ptrace(2)), `EBADF` for another file.
    public init(_ number: Int32, of pid: ProcessID, inode: UInt32) throws(Errno) {
        guard let process = ProcessDescriptor.open(pid) else { throw Errno(rawValue: ESRCH) }
        let number = linux_pidfd_getfd(process.rawValue, number)
        guard number >= 0 else { throw Errno(rawValue: -number) }
        let duplicate = Descriptor(owning: number)
        // Not fstat(2): another process with the same descriptors may have put a file in this place whose server does not answer.
        var file = linux_file()
        // A file system of a user chooses its inode numbers, so it must be a socket, too.
        guard unsafe linux_stat_file(number, "", &file) == 0, file.inode == UInt64(inode),
            file.mode & UInt32(S_IFMT) == UInt32(S_IFSOCK)
        else {
            throw Errno(rawValue: EBADF)
        }
        self.init(socket: duplicate, process: process)
    }
}
