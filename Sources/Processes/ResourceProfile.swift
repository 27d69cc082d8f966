/// What the processes of an app get of the machine; nil for what each has of its own.
public struct ResourceProfile: Hashable, Sendable {
    /// `cpu.weight` of the cgroup, 1 to 10000, of which 100 is the kernel's default.
    public var cpuWeight: Int?

    /// `io.weight` of the cgroup, 1 to 10000, of which 100 is the kernel's default.
    public var ioWeight: Int?

    /// `memory.low` of the cgroup, in bytes: what the kernel leaves to it as long as it finds memory elsewhere.
    public var memoryLow: Int?

    /// `pids.max` of the cgroup: the most processes and threads in it.
    public var processLimit: Int?

    /// Added to the nice value of each thread, where there is no weight for processor time. -20 to 19.
    public var nice: Int?

    /// The I/O priority of each thread, where there is no weight for I/O.
    public var ioPriority: IOPriority?

    /// `oom_score_adj` of each process, -1000 to 1000. From 0 on it only raises what a process has of its own, below 0 it
    /// only lowers it.
    public var oomScoreAdjustment: Int?

    /// How late the timers of each thread may be, in nanoseconds; it only raises what a thread has of its own.
    public var timerSlack: Int?

    /// Everything as it is.
    public init() {}
}

/// An I/O priority as in ioprio_set(2).
public enum IOPriority: Hashable, Sendable {
    /// Before everybody else. The level is 0, which comes first, to 7.
    case realTime(Int)
    /// What everybody has. The level is 0, which comes first, to 7.
    case bestEffort(Int)
    /// When nobody else wants to.
    case idle

    /// What the kernel counts with: the class times 8192 plus the level.
    var rawValue: Int {
        switch self {
        case .realTime(let level): 1 << 13 | level
        case .bestEffort(let level): 2 << 13 | level
        case .idle: 3 << 13
        }
    }
}
