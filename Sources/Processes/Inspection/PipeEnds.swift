import CLinux

/// The ends of pipes and connected sockets that the processes of an app have open.
///
/// Two apps that share a connection wait for each other: a writer blocks when its reader is suspended and the buffer is full.
public struct PipeEnds: Sendable {
    private var read: Set<UInt32> = []
    private var written: Set<UInt32> = []
    private var sockets: Set<UInt32> = []

    /// The ends of some processes.
    ///
    /// - Parameter processes: Their numbers; one that has ended has none.
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
