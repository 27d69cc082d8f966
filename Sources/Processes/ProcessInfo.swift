import CLinux

/// A process of an app, for people to look at.
public struct ProcessInfo: Hashable, Sendable {
    /// The number of the process.
    public let pid: ProcessID
    /// The number of its parent.
    public let parent: ProcessID
    /// The kernel's short name of the program.
    public let name: String
    /// The first 4096 bytes of the arguments, or the name when there are none. Written by the process itself.
    public let commandLine: [String]
    /// What its first thread does.
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
            commandLine: Self.commandLine(of: status),
            state: status.state,
            processorMicroseconds: overflow ? .max : microseconds
        )
    }

    private static func commandLine(of status: ProcessStatus) -> [String] {
        let text = ProcFile.read("/proc/\(status.pid)/cmdline", limit: 4096) ?? []
        let arguments = parse(commandLine: text)
        return arguments.isEmpty ? [status.name] : arguments
    }

    /// The arguments in the zero-terminated strings of proc_pid_cmdline(5), empty ones in between included.
    static func parse(commandLine text: [UInt8]) -> [String] {
        // Programs that change their title leave a tail of zeros.
        guard let last = text.lastIndex(where: { $0 != 0 }) else { return [] }
        return text[...last].split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
