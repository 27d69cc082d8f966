import Glibc

/// The facts about a process of another program that decide about its adoption.
///
/// Its name and its arguments are its own word. Hold the process with a `PinnedProcess` meanwhile.
public struct RunningProcess: Sendable {
    /// The number and the start time, which name no other process of this boot.
    public let identity: ProcessIdentity
    /// The kernel's short name of its program; any process can change its own.
    public let name: String
    /// Its real, effective and saved user.
    public let users: [UInt32]
    /// A Boolean value that indicates whether it is a thread of the kernel's.
    public let isKernels: Bool
    /// A Boolean value that indicates whether it has ended, and its parent has not waited for it.
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
    ///
    /// - Parameters:
    ///   - pid: The number of the process.
    ///   - memory: Reads the arguments.
    public init?(of pid: ProcessID, memory: ProcessMemory) {
        guard let status = try? ProcessStatus(of: pid), let users = try? Self.users(of: pid) else { return nil }
        identity = status.identity
        name = status.name
        isZombie = status.isZombie
        self.users = users
        isKernels = Self.flags(of: pid).map { $0 & Self.kernelThread != 0 } ?? true
        group = try? Cgroup.name(of: pid)
        executable = Self.executable(of: pid)
        commandLine = ProcessInfo(status).commandLine(memory)
    }

    /// Returns the line `Uid:` of proc_pid_status(5), without the fourth, which is for files.
    static func users(of pid: ProcessID) throws(Errno) -> [UInt32]? {
        users(inStatus: try ProcFile.read("/proc/\(pid)/status", limit: 1 << 16) ?? [])
    }

    static func users(inStatus text: [UInt8]) -> [UInt32]? { numbers("Uid:", inStatus: text) }

    /// Returns the real, effective and saved group of a process.
    static func groups(of pid: ProcessID) throws(Errno) -> [UInt32]? {
        numbers("Gid:", inStatus: try ProcFile.read("/proc/\(pid)/status", limit: 1 << 16) ?? [])
    }

    private static func numbers(_ name: String, inStatus text: [UInt8]) -> [UInt32]? {
        let line = text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }
        let words = line?.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }.dropFirst().prefix(3) ?? []
        let users = words.compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
        return users.count == 3 ? users : nil
    }

    /// Returns field 9 of proc_pid_stat(5).
    private static func flags(of pid: ProcessID) -> UInt64? {
        guard let text = try? ProcFile.read("/proc/\(pid)/stat", limit: 2048),
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
    /// A Boolean value that indicates whether a `CgroupSubtree`, of any daemon, has made its cgroup for an app.
    public var isInGroupOfApp: Bool {
        let parts = group?.split(separator: "/") ?? []
        return zip(parts, parts.dropFirst()).contains { $0 == "apps" && $1.hasPrefix("app-") }
    }

    /// Returns the unit of systemd that a process is in, or its cgroup outside of all units; nil if that cannot be read.
    public static func unit(of pid: ProcessID) -> String? {
        (try? Cgroup.name(of: pid)).map { Cgroup.unit(in: $0) ?? $0 }
    }

    /// The logind session whose scope it is in.
    public var loginSession: String? {
        guard let scope = group.flatMap(Cgroup.unit)?.split(separator: "/").last, scope.hasPrefix("session-"),
            scope.hasSuffix(".scope")
        else { return nil }
        return String(scope.dropFirst("session-".count).dropLast(".scope".count))
    }

    /// Returns the numbers of the processes above one, its parent first; nil if that cannot be read.
    ///
    /// - Parameter pid: The number of the process, which is left out.
    public static func ancestors(of pid: ProcessID) -> [ProcessID]? {
        guard let parent = (try? ProcessStatus(of: pid))?.parent else { return nil }
        guard parent > 1 else { return [] }
        return Ancestry(of: parent)?.processes
    }
}

/// A process of an app, for presentation.
public struct ProcessInfo: Hashable, Sendable {
    /// The number of the process.
    public let pid: ProcessID
    /// The number of its parent.
    public let parent: ProcessID
    /// The kernel's short name of the program.
    public let name: String
    /// The state of its first thread.
    public let state: ProcessState
    /// Time on a processor in user and kernel mode, of all threads, as fine as the clock tick (mostly 10 ms).
    public let processorMicroseconds: UInt64
}

extension ProcessInfo {
    private static let microsecondsPerTick = 1_000_000 / BootTime.ticksPerSecond

    init(_ status: ProcessStatus) {
        let (microseconds, overflow) = status.processorTicks.multipliedReportingOverflow(by: Self.microsecondsPerTick)
        self.init(
            pid: status.pid,
            parent: status.parent,
            name: status.name,
            state: status.state,
            processorMicroseconds: overflow ? .max : microseconds
        )
    }

    /// The process as messages name it: `process 4321 (sleep, state S) of user root`.
    public var subject: String {
        let user = (try? RunningProcess.users(of: pid))?.first.map(UserAccount.name(ofUserID:))
        return "process \(pid) (\(name), state \(state.letter))" + (user.map { " of user \($0)" } ?? "")
    }

    /// Returns the first 4096 bytes of the arguments, which are the process's own word.
    ///
    /// - Parameter memory: Reads the arguments.
    /// - Returns: The arguments; the name where there are none, and where the process keeps them from being read.
    public func commandLine(_ memory: ProcessMemory) -> [String] {
        let arguments = Self.parse(commandLine: memory.read("cmdline", of: pid, limit: 4096) ?? [])
        return arguments.isEmpty ? [name] : arguments
    }

    /// Returns the arguments in the zero-terminated strings of proc_pid_cmdline(5), empty ones in between included.
    static func parse(commandLine text: [UInt8]) -> [String] {
        // Programs that change their title leave a tail of zeros.
        guard let last = text.lastIndex(where: { $0 != 0 }) else { return [] }
        return text[...last].split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

extension RunningProcess {
    /// The variable with which dbus-daemon starts a program: the address of the bus.
    private static let starterVariable = "DBUS_STARTER_ADDRESS="
    /// dbus-daemon keeps a copy of itself between it and a program, until the program owns its name.
    private static let generations = 2
    /// The kernel allows environments of megabytes. dbus-daemon puts the variable among the first.
    private static let environmentLimit = 256 << 10

    /// Returns whether dbus-daemon has launched a process.
    ///
    /// - Parameters:
    ///   - process: The number of the process. Its environment is its own word.
    ///   - bus: The number of dbus-daemon.
    ///   - memory: Reads the environment.
    /// - Returns: True if the process has the variable of the bus, is in the unit of the bus, and is a child of no other program in
    ///   there.
    public static func isLaunched(
        _ process: ProcessID, byBusDaemon bus: ProcessID, memory: ProcessMemory
    ) -> Bool {
        guard let ancestors = ancestors(of: process), let unit = unit(of: bus), unit == self.unit(of: process),
            let environment = memory.read("environ", of: process, limit: environmentLimit),
            environment.split(separator: 0).contains(where: { $0.starts(with: starterVariable.utf8) })
        else { return false }
        guard let parent = ancestors.first, !ancestors.prefix(generations).contains(bus) else { return true }
        // The user's service manager becomes the parent of orphans.
        return self.unit(of: parent) != unit
    }
}
