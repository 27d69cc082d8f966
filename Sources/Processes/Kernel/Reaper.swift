import CLinux
import Glibc

/// Makes this process the parent of its descendants' orphans, and waits for all its children.
public enum Reaper {
    /// Makes orphaned descendants children of this process instead of process 1's.
    ///
    /// It is not inherited by children, and survives execve(2).
    ///
    /// - Throws: The error of prctl(2).
    public static func becomeSubreaper() throws(Errno) {
        let result = linux_set_child_subreaper(true)
        guard result == 0 else { throw Errno(rawValue: -result) }
    }

    /// Returns the next event of any child, or nil when there is none. It never blocks; a child that ended is reaped.
    static func next() -> ChildEvent? { next(LINUX_WAIT_ANY, 0) }

    /// Returns the next event of one child, or nil when there is none or it is no child.
    static func next(of pid: ProcessID) -> ChildEvent? { next(LINUX_WAIT_PID, pid) }

    private static func next(_ target: linux_wait_target, _ number: Int32) -> ChildEvent? {
        var event = linux_child_event()
        while unsafe linux_wait(target, number, &event) == 1 {
            if let known = ChildEvent(event) { return known }
        }
        return nil
    }
}

/// Something that happened to a child.
public struct ChildEvent: Hashable, Sendable {
    /// A change of a child's state.
    public enum Change: Hashable, Sendable {
        /// It has been reaped: its number is free from now on.
        case ended(WaitStatus)
        case stopped(Signal)
        case continued
    }

    /// The number of the child.
    public let pid: ProcessID
    /// The new state of the child.
    public let change: Change
}

extension ChildEvent {
    /// Nil for codes that wait(2) does not have.
    init?(_ event: linux_child_event) {
        pid = event.pid
        switch Int(event.code) {
        case Int(CLD_EXITED): change = .ended(.exited(code: event.status))
        case Int(CLD_KILLED): change = .ended(.killed(by: Signal(rawValue: event.status), dumpedCore: false))
        case Int(CLD_DUMPED): change = .ended(.killed(by: Signal(rawValue: event.status), dumpedCore: true))
        case Int(CLD_STOPPED), Int(CLD_TRAPPED): change = .stopped(Signal(rawValue: event.status))
        case Int(CLD_CONTINUED): change = .continued
        default: return nil
        }
    }
}

/// The end of a process.
public enum WaitStatus: Hashable, Sendable {
    case exited(code: Int32)
    case killed(by: Signal, dumpedCore: Bool)
    /// The process was no child, another process has reaped it, and the kernel does not tell (before Linux 6.15).
    case unknown
}

extension WaitStatus {
    /// Reads a status in the form of wait(2).
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        if signal == 0 {
            self = .exited(code: (waitStatus >> 8) & 0xff)
        } else {
            self = .killed(by: Signal(rawValue: signal), dumpedCore: waitStatus & 0x80 != 0)
        }
    }

    /// Returns the end of a process that is no child.
    ///
    /// - Parameter descriptor: A pidfd of it, if there is one.
    static func ofProcess(_ process: ProcessIdentity, descriptor: Int32?) -> WaitStatus {
        // It may be reaped between the first question, for which it has to be, and the second, for which it must not.
        descriptor.flatMap(ProcessDescriptor.exitStatus) ?? ofZombie(process)
            ?? descriptor.flatMap(ProcessDescriptor.exitStatus) ?? .unknown
    }

    /// Returns field 52 of proc_pid_stat(5), which is there until the parent has waited.
    private static func ofZombie(_ process: ProcessIdentity) -> WaitStatus? {
        guard let text = try? ProcFile.read("/proc/\(process.pid)/stat", limit: 2048),
            let status = ProcessStatus(parsing: text), status.identity == process, status.isZombie,
            ProcFile.mayLookInto(process.pid), let close = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // The first of these is field 3.
        let fields = text[(close + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard fields.count > 49, let waitStatus = Int32(ascii: fields[49]) else { return nil }
        return WaitStatus(waitStatus: waitStatus)
    }
}
