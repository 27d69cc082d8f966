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
    /// Reads the text of a `stat` file, or nil when it is cut short or not one.
    ///
    /// The name stands in parentheses and may contain anything, parentheses and line ends included.
    /// Only numbers follow it, so it ends at the last closing one.
    public init?(parsing text: [UInt8]) {
        guard let open = text.firstIndex(of: UInt8(ascii: "(")),
            let close = text.lastIndex(of: UInt8(ascii: ")")), open < close,
            let pid = ProcessID(ascii: text[..<open].dropLast())
        else { return nil }
        // The first of these is field 3.
        let fields = text[(close + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 20)
        guard fields.count > 20, fields[0].count == 1, let letter = fields[0].first,
            let parent = ProcessID(ascii: fields[1]),
            let processGroup = ProcessID(ascii: fields[2]),
            let session = ProcessID(ascii: fields[3]),
            let userTicks = UInt64(ascii: fields[11]),
            let systemTicks = UInt64(ascii: fields[12]),
            let threadCount = Int(ascii: fields[17]),
            let startTime = UInt64(ascii: fields[19])
        else { return nil }
        self.init(
            pid: pid,
            name: String(decoding: text[(open + 1)..<close], as: UTF8.self),
            state: ProcessState(letter: letter),
            parent: parent,
            processGroup: processGroup,
            session: session,
            processorTicks: userTicks &+ systemTicks,
            threadCount: threadCount,
            startTime: startTime
        )
    }

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
        guard let text = ProcFile.read(path, limit: 2048) else { return nil }
        self.init(parsing: text)
    }
}

extension FixedWidthInteger {
    /// A decimal number that fills the bytes exactly.
    init?(ascii bytes: ArraySlice<UInt8>) {
        guard let first = bytes.first, first != UInt8(ascii: "+") else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}
