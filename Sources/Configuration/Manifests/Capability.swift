import Glibc

/// A capability of capabilities(7), in the order of the kernel's numbers.
public enum Capability: String, CaseIterable, Hashable, Sendable, TOMLValue {
    case chown = "CAP_CHOWN"
    case dacOverride = "CAP_DAC_OVERRIDE"
    case dacReadSearch = "CAP_DAC_READ_SEARCH"
    case fowner = "CAP_FOWNER"
    case fsetid = "CAP_FSETID"
    case kill = "CAP_KILL"
    case setgid = "CAP_SETGID"
    case setuid = "CAP_SETUID"
    case setpcap = "CAP_SETPCAP"
    case linuxImmutable = "CAP_LINUX_IMMUTABLE"
    case netBindService = "CAP_NET_BIND_SERVICE"
    case netBroadcast = "CAP_NET_BROADCAST"
    case netAdmin = "CAP_NET_ADMIN"
    case netRaw = "CAP_NET_RAW"
    case ipcLock = "CAP_IPC_LOCK"
    case ipcOwner = "CAP_IPC_OWNER"
    case sysModule = "CAP_SYS_MODULE"
    case sysRawio = "CAP_SYS_RAWIO"
    case sysChroot = "CAP_SYS_CHROOT"
    case sysPtrace = "CAP_SYS_PTRACE"
    case sysPacct = "CAP_SYS_PACCT"
    case sysAdmin = "CAP_SYS_ADMIN"
    case sysBoot = "CAP_SYS_BOOT"
    case sysNice = "CAP_SYS_NICE"
    case sysResource = "CAP_SYS_RESOURCE"
    case sysTime = "CAP_SYS_TIME"
    case sysTtyConfig = "CAP_SYS_TTY_CONFIG"
    case mknod = "CAP_MKNOD"
    case lease = "CAP_LEASE"
    case auditWrite = "CAP_AUDIT_WRITE"
    case auditControl = "CAP_AUDIT_CONTROL"
    case setfcap = "CAP_SETFCAP"
    case macOverride = "CAP_MAC_OVERRIDE"
    case macAdmin = "CAP_MAC_ADMIN"
    case syslog = "CAP_SYSLOG"
    case wakeAlarm = "CAP_WAKE_ALARM"
    case blockSuspend = "CAP_BLOCK_SUSPEND"
    case auditRead = "CAP_AUDIT_READ"
    case perfmon = "CAP_PERFMON"
    case bpf = "CAP_BPF"
    case checkpointRestore = "CAP_CHECKPOINT_RESTORE"

    /// Returns the bits of a set of capabilities, as the kernel has it.
    public static func bits(of capabilities: Set<Capability>) -> UInt64 {
        zip(allCases, 0...).reduce(0) { bits, each in capabilities.contains(each.0) ? bits | 1 << UInt64(each.1) : bits
        }
    }
}

/// Finds the programs that commands name.
struct ProgramSearch {
    /// Directories in the form of the PATH variable. Only absolute ones count: what an app is must not depend on where
    /// its daemon was started.
    let path: String

    enum Failure: Error, Equatable {
        case missing
        case notExecutable
    }

    /// Fails unless there is a program that some user at least can execute.
    func check(_ program: String) throws(Failure) {
        if program.hasPrefix("/") { return try Self.checkFile(program) }
        var isThere = false
        for directory in path.split(separator: ":") where directory.hasPrefix("/") {
            do throws(Failure) {
                return try Self.checkFile("\(directory)/\(program)")
            } catch {
                isThere = isThere || error == .notExecutable
            }
        }
        throw isThere ? .notExecutable : .missing
    }

    private static func checkFile(_ file: String) throws(Failure) {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else { throw .missing }
        let executable = status.st_mode & S_IFMT == S_IFREG && status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) != 0
        guard executable else { throw .notExecutable }
    }
}
