import Glibc

/// A file that a process has open: an entry of `/proc/PID/fd`.
public struct OpenFile: Hashable, Sendable {
    /// The process that has the file open.
    public let process: ProcessID
    /// The number of the descriptor.
    public let number: Int32
    /// The target of the link, such as `socket:[4711]` or a path.
    public let target: String

    /// Returns the open files of a process, up to a limit; none if it is gone, or may not be looked at.
    public static func all(of pid: ProcessID) -> [OpenFile] { all(of: [pid]) }

    /// Returns the open files of some processes, up to a limit.
    public static func all(of processes: [ProcessID]) -> [OpenFile] {
        var scan = OpenFileScan(of: processes)
        var files: [OpenFile] = []
        scan.step(count: .max) { files.append($0) }
        return files
    }

    fileprivate init?(_ number: Int32, of pid: ProcessID) {
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

/// A look at the open files of some processes, in steps.
public struct OpenFileScan {
    private var processes: ArraySlice<ProcessID>
    private var process: ProcessID = 0
    /// The descriptors of `process` that were not looked at.
    private var numbers: ArraySlice<Int32> = []
    /// The number of descriptors and processes that may still be looked at.
    public private(set) var left: Int

    /// The number of descriptors and processes of one scan.
    public static let limit = 16_384
    /// The number of descriptors of one process.
    private static let processLimit = 4096
    /// The number of descriptors that are listed in the time that it takes to look at one.
    private static let listedAtATime = 16

    /// Creates a look, which reads nothing before the first step.
    ///
    /// - Parameters:
    ///   - processes: The numbers of the processes.
    ///   - limit: The largest number of descriptors and processes that are looked at.
    public init(of processes: [ProcessID], limit: Int = Self.limit) {
        self.processes = processes[...]
        left = limit
    }

    /// A Boolean value that indicates whether nothing is left to be read.
    public var isDone: Bool { left <= 0 || processes.isEmpty && numbers.isEmpty }

    /// Reads as many files as take the time of `count` or, once, of a list of descriptors.
    ///
    /// - Parameters:
    ///   - count: The time for the step, as the number of files that are looked at in it.
    ///   - body: Called with each open file.
    /// - Returns: The part of `count` that was used; more than `count` if the step ends with a long list of descriptors.
    @discardableResult
    public mutating func step(count: Int, _ body: (OpenFile) -> Void) -> Int {
        var used = 0
        while used < count, !isDone {
            left -= 1
            used += 1
            if let number = numbers.popFirst() {
                if let file = OpenFile(number, of: process) { body(file) }
            } else if let next = processes.popFirst() {
                process = next
                // The list leaves out 0, which is no number of a process.
                let listed = try? ProcFile.processIDs(in: "/proc/\(next)/fd", limit: min(Self.processLimit, left))
                numbers = [0] + (listed ?? [])
                used += numbers.count / Self.listedAtATime
            }
        }
        return used
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
    /// - Parameters:
    ///   - processes: Their numbers; a process that has ended has no files.
    ///   - limit: The number of descriptors and processes that may be looked at; less the number of those that were.
    public init(of processes: [ProcessID], limit: inout Int) {
        var scan = OpenFileScan(of: processes, limit: limit)
        scan.step(count: .max) { add($0) }
        limit = scan.left
    }

    private mutating func add(_ file: OpenFile) {
        if let socket = file.socket { sockets.insert(socket) }
        guard let pipe = file.pipe else { return }
        let access = file.access
        if access.canRead { read.insert(pipe) }
        if access.canWrite { written.insert(pipe) }
    }

    /// Returns whether these processes and others have the two ends of a pipe, or of a connection of unix(7).
    ///
    /// - Parameters:
    ///   - others: The ends that the other processes have open.
    ///   - peers: The socket at the other end of each, by inode; see ``UnixSocket``.
    /// - Returns: True if one side can wait for the other.
    public func areConnected(to others: PipeEnds, peers: [UInt32: UInt32]) -> Bool {
        !read.isDisjoint(with: others.written) || !written.isDisjoint(with: others.read)
            || sockets.contains { peers[$0].map(others.sockets.contains) ?? false }
    }
}

extension OpenFile {
    /// Returns what the process may do with the file, by the mode of the link in `/proc/PID/fd`.
    fileprivate var access: (canRead: Bool, canWrite: Bool) {
        var link = stat()
        guard unsafe lstat("/proc/\(process)/fd/\(number)", &link) == 0 else { return (false, false) }
        return (link.st_mode & 0o400 != 0, link.st_mode & 0o200 != 0)
    }
}
