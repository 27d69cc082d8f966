import CLinux

/// What the kernel tells of the process that a pidfd stands for. The descriptors stay their owners'.
enum ProcessDescriptor {
    /// The process that a descriptor stands for.
    enum Target: Hashable {
        case process(ProcessID)
        /// One that has ended and been waited for.
        case reaped
        /// None: it is no pidfd, or one of a process that has no number here.
        case none
    }

    /// Opens one, or nil when the process is gone, or there is no room for another descriptor.
    static func open(_ pid: ProcessID) -> Descriptor? {
        let number = linux_pidfd_open(pid)
        return number >= 0 ? Descriptor(owning: number) : nil
    }

    /// See `Pid:` in proc_pid_fdinfo(5), and pidfd_open(2).
    static func target(of descriptor: Int32) -> Target {
        guard let text = ProcFile.read("/proc/self/fdinfo/\(descriptor)", limit: 4096),
            let line = text.split(separator: UInt8(ascii: "\n")).first(where: { $0.starts(with: Array("Pid:".utf8)) }),
            let pid = ProcessID(ascii: line.dropFirst("Pid:\t".utf8.count))
        else { return .none }
        if pid > 0 { return .process(pid) }
        return pid == -1 ? .reaped : .none
    }

    /// Whether the process has ended, with all of its threads.
    static func hasEnded(_ descriptor: Int32) -> Bool {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&poller, 1, 0) == 1
    }

    /// How a process ended that has been reaped, by whomever (Linux 6.15); nil when that is not told.
    static func exitStatus(_ descriptor: Int32) -> ExitStatus? {
        var waitStatus: Int32 = 0
        guard unsafe linux_pidfd_exit_status(descriptor, &waitStatus) == 1 else { return nil }
        return ExitStatus(waitStatus: waitStatus)
    }
}
