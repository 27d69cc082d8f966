import CLinux
import Glibc

/// A file descriptor with one owner: it is closed with this value.
public struct Descriptor: ~Copyable {
    /// The number, for registering it with an event loop. It stays owned by this value.
    public let rawValue: Int32

    /// Creates the owner of an open descriptor.
    public init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Opens a file, closed on exec.
    ///
    /// - Parameter flags: The access mode and other flags of open(2).
    static func open(_ path: some FilePath, _ flags: Int32) throws(Errno) -> Descriptor {
        let number = unsafe path.withPath { unsafe Glibc.open($0, flags | O_CLOEXEC) }
        guard number >= 0 else { throw Errno(rawValue: errno) }
        return Descriptor(owning: number)
    }

    deinit {
        // After EINTR the descriptor is closed on Linux; trying again could close another file.
        _ = close(rawValue)
    }
}

/// Queries about the process that a pidfd stands for. The descriptors stay their owners'.
enum ProcessDescriptor {
    /// The process that a descriptor stands for.
    enum Target: Hashable {
        case process(ProcessID)
        /// A process that has ended and been waited for.
        case reaped
        /// None: it is no pidfd, or one of a process that has no number here.
        case none
    }

    /// Opens one, or nil when the process is gone, or there is no room for another descriptor.
    static func open(_ pid: ProcessID) -> Descriptor? {
        let number = linux_pidfd_open(pid)
        return number >= 0 ? Descriptor(owning: number) : nil
    }

    /// Returns the process of a descriptor: see `Pid:` in proc_pid_fdinfo(5), and pidfd_open(2).
    static func target(of descriptor: Int32) throws(Errno) -> Target {
        guard let text = try ProcFile.read("/proc/self/fdinfo/\(descriptor)", limit: 4096),
            let line = text.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: Array("Pid:".utf8)) }),
            let pid = ProcessID(ascii: line.dropFirst("Pid:\t".utf8.count))
        else { return .none }
        if pid > 0 { return .process(pid) }
        return pid == -1 ? .reaped : .none
    }

    /// Returns whether the process has ended, with all of its threads.
    static func hasEnded(_ descriptor: Int32) -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, 0) == 1
    }

    /// Returns the exit status of a process that any parent has reaped (Linux 6.15); nil if the kernel does not tell
    /// it.
    static func exitStatus(_ descriptor: Int32) -> WaitStatus? {
        var waitStatus: Int32 = 0
        guard unsafe linux_pidfd_exit_status(descriptor, &waitStatus) == 1 else { return nil }
        return WaitStatus(waitStatus: waitStatus)
    }
}

/// A process that is held by a descriptor while it is looked at, so that its number cannot become another's unnoticed.
public struct PinnedProcess: ~Copyable {
    /// The number of the process.
    public let pid: ProcessID
    private let descriptor: Descriptor

    private init(pid: ProcessID, descriptor: consuming Descriptor) {
        self.pid = pid
        self.descriptor = descriptor
    }

    /// Holds the process that has a number now; nil when there is none, or when the number is that of a thread.
    ///
    /// - Parameter pid: A process number.
    /// - Throws: The error of pidfd_open(2), mostly for want of a descriptor.
    public static func pin(_ pid: ProcessID) throws(Errno) -> PinnedProcess? {
        let number = linux_pidfd_open(pid)
        guard number < 0 else { return PinnedProcess(pid: pid, descriptor: Descriptor(owning: number)) }
        // A thread that is not the first is EINVAL, or ENOENT since Linux 6.9.
        guard [ESRCH, EINVAL, ENOENT].contains(-number) else { throw Errno(rawValue: -number) }
        return nil
    }

    /// Gives the descriptor away, a pidfd of the process.
    public consuming func takeDescriptor() -> Descriptor { descriptor }

    /// A Boolean value that indicates whether it has not ended: then whatever was found under its number so far was
    /// about it.
    public var lives: Bool { linux_pidfd_has_ended(descriptor.rawValue) == 0 }
}
