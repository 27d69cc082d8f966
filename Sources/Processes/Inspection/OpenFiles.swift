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
        let numbers = [0] + ProcFile.processIDs(in: "/proc/\(pid)/fd").prefix(limit)
        return numbers.compactMap { OpenFile($0, of: pid) }
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
