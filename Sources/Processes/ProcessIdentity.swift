/// A process number. It means a process only as long as that process has not been reaped.
public typealias ProcessID = Int32

/// A process that cannot be mistaken for a later one with the same number.
public struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The number of the process.
    public let pid: ProcessID
    /// Clock ticks between boot and the start of the process: field 22 of proc_pid_stat(5).
    public let startTime: UInt64

    /// Names a process by its number and its start.
    public init(pid: ProcessID, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }

    /// The number, which is what people look for.
    public var description: String { String(pid) }
}
