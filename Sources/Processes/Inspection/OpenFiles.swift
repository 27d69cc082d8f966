import CLinux

/// A file that a process has open: an entry of `/proc/PID/fd`.
public struct OpenFile: Hashable, Sendable {
    /// The process.
    public let process: ProcessID
    /// The number of the descriptor.
    public let number: Int32
    /// The target of the link, such as `socket:[4711]` or a path.
    public let target: String

    /// The number of descriptors of one process that are looked at.
    private static let limit = 4096

    /// Returns the open files of a process; none if it is gone, or may not be looked at.
    public static func all(of pid: ProcessID) -> [OpenFile] {
        // The list leaves out 0, which is no number of a process.
        let numbers = ProcFile.processIDs(in: "/proc/\(pid)/fd").prefix(limit)
        var files: [OpenFile] = []
        files.reserveCapacity(numbers.count + 1)
        if let file = OpenFile(0, of: pid) { files.append(file) }
        for number in numbers { if let file = OpenFile(number, of: pid) { files.append(file) } }
        return files
    }

    private init?(_ number: Int32, of pid: ProcessID) {
        guard let target = ProcPath(pid, "fd/", number).readLink() else { return nil }
        process = pid
        self.number = number
        self.target = target
    }

    /// The inode of a socket; nil for another file.
    public var socket: UInt32? { inode(of: "socket:[") }

    /// The inode of a pipe; nil for another file.
    public var pipe: UInt32? { inode(of: "pipe:[") }

    private func inode(of kind: String) -> UInt32? {
        guard target.hasPrefix(kind), target.hasSuffix("]") else { return nil }
        return UInt32(target.dropFirst(kind.utf8.count).dropLast())
    }
}

/// The ends of pipes and connected sockets that the processes of an app have open.
///
/// Two apps that share a connection wait for each other: a writer blocks when its reader is suspended and the buffer is full.
public struct PipeEnds: Sendable {
    private var read: Set<UInt32> = []
    private var written: Set<UInt32> = []
    private var sockets: Set<UInt32> = []

    /// The ends of some processes.
    ///
    /// - Parameter processes: Their numbers; a process that has ended has no files.
    public init(of processes: some Sequence<ProcessID>) {
        for pid in processes {
            for file in OpenFile.all(of: pid) {
                if let socket = file.socket { sockets.insert(socket) }
                guard let pipe = file.pipe else { continue }
                let access = file.access(of: pid)
                if access.canRead { read.insert(pipe) }
                if access.canWrite { written.insert(pipe) }
            }
        }
    }

    /// Returns whether these processes and others have the two ends of a pipe, or of a connection of unix(7).
    ///
    /// - Parameter peers: The socket at the other end of each, by inode; see ``UnixSocket``.
    public func areConnected(to others: PipeEnds, peers: [UInt32: UInt32]) -> Bool {
        !read.isDisjoint(with: others.written) || !written.isDisjoint(with: others.read)
            || sockets.contains { peers[$0].map(others.sockets.contains) ?? false }
    }
}

extension OpenFile {
    /// Returns what the process may do with the file, by the mode of the link in `/proc/PID/fd`.
    fileprivate func access(of pid: ProcessID) -> (canRead: Bool, canWrite: Bool) {
        var link = stat()
        guard unsafe lstat("/proc/\(pid)/fd/\(number)", &link) == 0 else { return (false, false) }
        return (link.st_mode & 0o400 != 0, link.st_mode & 0o200 != 0)
    }
}
