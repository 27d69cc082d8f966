/// What `/proc/PID/stat` says about a process or a thread at one moment: see proc_pid_stat(5).
public struct ProcessStatus: Hashable, Sendable {
    /// The number of the process.
    public let pid: ProcessID
    /// The name of the program file, cut by the kernel to 15 bytes; any process can change its own.
    public let name: String
    /// What its first thread does.
    public let state: ProcessState
    /// The number of its parent, or 0 when that is outside of this PID namespace.
    public let parent: ProcessID
    /// The process group.
    public let processGroup: ProcessID
    /// The session.
    public let session: ProcessID
    /// Clock ticks in user and in kernel mode, over all threads.
    public let processorTicks: UInt64
    /// How many threads there are, its first one included even after that ended.
    public let threadCount: Int
    /// Clock ticks between boot and the start.
    public let startTime: UInt64

    /// The process, safe from mistaking it for a later one.
    public var identity: ProcessIdentity { ProcessIdentity(pid: pid, startTime: startTime) }

    /// Whether nothing of it runs any more and only its parent has to be told.
    ///
    /// A process whose first thread has ended shows as a zombie while its other threads go on.
    public var isZombie: Bool { state.isGone && threadCount <= 1 }
}

extension ProcessStatus {
    /// The status of a process, or nil when it is gone.
    public init?(of pid: ProcessID) {
        self.init(readingFrom: "/proc/\(pid)/stat")
    }

    /// Every process of the machine: one pass over `/proc`.
    static func all() -> [ProcessStatus] {
        ProcFile.processIDs(in: "/proc").compactMap { ProcessStatus(of: $0) }
    }

    /// The status of one thread of a process, or nil when it is gone.
    init?(ofThread thread: ProcessID, of pid: ProcessID) {
        self.init(readingFrom: "/proc/\(pid)/task/\(thread)/stat")
    }

    private init?(readingFrom path: String) {
        // 52 numbers of 20 digits and a name of 64 bytes fit.
        guard let status = ProcFile.readWhole(path, { ProcessStatus(parsing: $0) }) else { return nil }
        self = status
    }
}

extension Sequence<ProcessStatus> {
    /// The processes, safe from mistaking them for later ones.
    var identities: [ProcessIdentity] { map { $0.identity } }

    /// The numbers of the processes.
    var pids: [ProcessID] { map { $0.pid } }
}
