import CLinux

/// How a process ended.
public enum ExitStatus: Hashable, Sendable {
    case exited(code: Int32)
    case killed(by: Signal, dumpedCore: Bool)
    /// It was no child, somebody else has reaped it, and the kernel does not tell (before Linux 6.15).
    case unknown
}

extension ExitStatus {
    /// Reads a status in the form of wait(2).
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        if signal == 0 {
            self = .exited(code: (waitStatus >> 8) & 0xff)
        } else {
            self = .killed(by: Signal(rawValue: signal), dumpedCore: waitStatus & 0x80 != 0)
        }
    }

    /// How a process that is no child has ended.
    ///
    /// - Parameter descriptor: A pidfd of it, if there is one.
    static func ofProcess(_ process: ProcessIdentity, descriptor: Int32?) -> ExitStatus {
        // It may be reaped between the first question, for which it has to be, and the second, for which it must not.
        descriptor.flatMap(ProcessDescriptor.exitStatus) ?? ofZombie(process)
            ?? descriptor.flatMap(ProcessDescriptor.exitStatus) ?? .unknown
    }

    /// Field 52 of proc_pid_stat(5), which is there until the parent has waited.
    private static func ofZombie(_ process: ProcessIdentity) -> ExitStatus? {
        guard let text = ProcFile.read("/proc/\(process.pid)/stat", limit: 2048),
            let status = ProcessStatus(parsing: text), status.identity == process, status.isZombie,
            mayLookInto(process.pid), let close = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        // The first of these is field 3.
        let fields = text[(close + 1)...].split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        guard fields.count > 49, let waitStatus = Int32(ascii: fields[49]) else { return nil }
        return ExitStatus(waitStatus: waitStatus)
    }

    /// Who may not see the status of a zombie is shown 0, as if it had exited well. The rule is that of its links.
    private static func mayLookInto(_ pid: ProcessID) -> Bool {
        var byte: CChar = 0
        return unsafe readlink("/proc/\(pid)/cwd", &byte, 1) >= 0 || errno != EACCES
    }
}
