import CLinux

/// What there is to know about a process that somebody else has started, before it is decided what to do with it.
///
/// What it calls itself, its arguments included, is its own word. Hold the process with a `HeldProcess` meanwhile.
public struct RunningProcess: Sendable {
    /// The process.
    public let identity: ProcessIdentity
    /// The kernel's short name of its program; any process can change its own.
    public let name: String
    /// Its real, effective and saved user.
    public let users: [UInt32]
    /// Whether it is a thread of the kernel's.
    public let isKernels: Bool
    /// Whether it has ended, and only its parent has to be told.
    public let isZombie: Bool
    /// Its place in the hierarchy of cgroups (version 2), where it has one.
    public let group: String?
    /// The file that it runs, where that may be known.
    public let executable: String?
    /// The first 4096 bytes of its arguments, or its name where there are none.
    public let commandLine: [String]

    /// PF_KTHREAD of the kernel's `linux/sched.h`.
    private static let kernelThread: UInt64 = 0x0020_0000

    /// Nil when the process is gone, or may not be looked at.
    public init?(of pid: ProcessID) {
        guard let status = ProcessStatus(of: pid), let users = Self.users(of: pid) else { return nil }
        identity = status.identity
        name = status.name
        isZombie = status.isZombie
        self.users = users
        isKernels = Self.flags(of: pid).map { $0 & Self.kernelThread != 0 } ?? true
        group = Cgroup.name(of: pid)
        executable = Self.executable(of: pid)
        commandLine = ProcessInfo(status).commandLine
    }

    /// The line `Uid:` of proc_pid_status(5), without the fourth, which is for files.
    static func users(of pid: ProcessID) -> [UInt32]? {
        let text = ProcFile.read("/proc/\(pid)/status", limit: 1 << 16) ?? []
        let line = text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: "Uid:".utf8) }
        let words = line?.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }.dropFirst().prefix(3) ?? []
        let users = words.compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
        return users.count == 3 ? users : nil
    }

    /// Field 9 of proc_pid_stat(5).
    private static func flags(of pid: ProcessID) -> UInt64? {
        guard let text = ProcFile.read("/proc/\(pid)/stat", limit: 2048),
            let close = text.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let fields = text[(close + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 6 ? UInt64(String(decoding: fields[6], as: UTF8.self)) : nil
    }

    static func executable(of pid: ProcessID) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(pid)/exe", &text, text.count)
        guard count > 0 else { return nil }
        let path = String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The kernel appends this when another file has come in the place of the program, by an upgrade for one.
        let suffix = " (deleted)"
        return path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path
    }
}

extension RunningProcess {
    /// Whether its cgroup is one that a `CgroupSubtree` has made for an app, whosever.
    public var isInGroupOfApp: Bool {
        let parts = group?.split(separator: "/") ?? []
        return zip(parts, parts.dropFirst()).contains { $0 == "apps" && $1.hasPrefix("app-") }
    }

    /// The logind session whose scope it is in.
    public var loginSession: String? {
        guard let scope = group.flatMap(Cgroup.unit)?.split(separator: "/").last, scope.hasPrefix("session-"),
            scope.hasSuffix(".scope")
        else { return nil }
        return String(scope.dropFirst("session-".count).dropLast(".scope".count))
    }

    /// The numbers of the processes above one, its parent first; nil when that cannot be read.
    public static func ancestors(of pid: ProcessID) -> [ProcessID]? {
        guard let parent = ProcessStatus(of: pid)?.parent else { return nil }
        guard parent > 1 else { return [] }
        return Ancestry(of: parent)?.processes
    }
}
