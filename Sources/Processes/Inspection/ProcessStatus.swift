/// The content of `/proc/PID/stat` for a process or a thread at one moment: see proc_pid_stat(5).
public struct ProcessStatus: Hashable, Sendable {
    /// The number of the process.
    public let pid: ProcessID
    /// The name of the program file, cut by the kernel to 15 bytes; any process can change its own.
    public let name: String
    /// The state of its first thread.
    public let state: ProcessState
    /// The number of its parent, or 0 when that is outside of this PID namespace.
    public let parent: ProcessID
    /// The number of its process group.
    public let processGroup: ProcessID
    /// The number of its session: setsid(2).
    public let session: ProcessID
    /// Clock ticks in user and in kernel mode, over all threads.
    public let processorTicks: UInt64
    /// The number of threads, the first one included even after it ended.
    public let threadCount: Int
    /// Clock ticks between boot and the start.
    public let startTime: UInt64

    /// The process, safe from mistaking it for a later one.
    public var identity: ProcessIdentity { ProcessIdentity(pid: pid, startTime: startTime) }

    /// A Boolean value that indicates whether the process has ended, with all of its threads, and its parent has not
    /// waited for it.
    ///
    /// A process whose first thread has ended shows as a zombie while its other threads go on.
    public var isZombie: Bool { state.isGone && threadCount <= 1 }
}

extension ProcessStatus {
    /// The status of a process, or nil when it is gone. 52 numbers of 20 digits and a name of 64 bytes fit into one read.
    ///
    /// - Throws: The error of a read that fails for another reason.
    public init?(of pid: ProcessID) throws(Errno) {
        let path = ProcPath(pid, "stat")
        guard let status = try ProcFile.readWhole(path, { ProcessStatus(parsing: $0) }) else { return nil }
        self = status
    }

    /// The status of one thread of a process, or nil when it is gone.
    init?(ofThread thread: ProcessID, of pid: ProcessID) throws(Errno) {
        let path = "/proc/\(pid)/task/\(thread)/stat"
        guard let status = try ProcFile.readWhole(path, { ProcessStatus(parsing: $0) }) else { return nil }
        self = status
    }
}

extension [ProcessStatus] {
    /// Returns the processes that have these numbers.
    static func all(of numbers: [ProcessID]) throws(Errno) -> [ProcessStatus] {
        var found: [ProcessStatus] = []
        for number in numbers { if let status = try ProcessStatus(of: number) { found.append(status) } }
        return found
    }
}

extension Sequence<ProcessStatus> {
    /// The processes in the order of their starts, so that parents come first.
    var inOrderOfStart: [ProcessStatus] { sorted { ($0.startTime, $0.pid) < ($1.startTime, $1.pid) } }

    /// The processes, safe from mistaking them for later ones.
    var identities: [ProcessIdentity] { map { $0.identity } }

    /// The numbers of the processes.
    var pids: [ProcessID] { map { $0.pid } }
}

extension ProcessStatus {
    /// The limit of a name in bytes: 15, and 63 for a thread of the kernel.
    private static let longestName = 64

    /// Reads the text of a `stat` file, or nil when it is cut short or not one.
    ///
    /// The name stands in parentheses and may contain anything, parentheses and line ends included.
    /// Only numbers follow it, so it ends at the last closing one.
    public init?(parsing text: [UInt8]) {
        self.init(parsing: text.span)
    }

    /// Reads the bytes of a `stat` file without a copy; a stop of a thousand processes reads two thousand of these.
    init?(parsing text: Span<UInt8>) {
        var position = 0
        guard let pid: ProcessID = text.number(at: &position), position + 1 < text.count,
            text[position] == UInt8(ascii: " "), text[position + 1] == UInt8(ascii: "(")
        else { return nil }
        let open = position + 1
        // Behind the longest name there are numbers only.
        var close = min(text.count - 1, open + Self.longestName + 1)
        while close > open, text[close] != UInt8(ascii: ")") { close -= 1 }
        guard close > open else { return nil }

        // Field 3, and from there on one space before each.
        position = close + 2
        guard position < text.count, text[close + 1] == UInt8(ascii: " ") else { return nil }
        let letter = text[position]
        position += 1
        guard let parent: ProcessID = text.nextNumber(at: &position),
            let processGroup: ProcessID = text.nextNumber(at: &position),
            let session: ProcessID = text.nextNumber(at: &position),
            // Terminal, its foreground group, flags, four counts of page faults.
            text.skipFields(7, at: &position),
            let userTicks: UInt64 = text.nextNumber(at: &position),
            let systemTicks: UInt64 = text.nextNumber(at: &position),
            // Ticks of children that were waited for, priority, nice value.
            text.skipFields(4, at: &position),
            let threadCount: Int = text.nextNumber(at: &position),
            text.skipFields(1, at: &position),
            let startTime: UInt64 = text.nextNumber(at: &position),
            // A number that is cut off in the middle is another number.
            text.skipFields(1, at: &position)
        else { return nil }
        self.init(
            pid: pid,
            name: text.string(open + 1..<close),
            state: ProcessState(letter: letter),
            parent: parent,
            processGroup: processGroup,
            session: session,
            processorTicks: userTicks &+ systemTicks,
            threadCount: threadCount,
            startTime: startTime
        )
    }
}

extension Span<UInt8> {
    fileprivate func string(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the number after one space, which is followed by another space.
    fileprivate func nextNumber<Number: FixedWidthInteger>(at position: inout Int) -> Number? {
        guard skipSpace(at: &position), let value: Number = number(at: &position), position < count,
            self[position] == UInt8(ascii: " ")
        else { return nil }
        return value
    }

    /// Goes to the end of so many fields, each after one space; false where there are fewer.
    fileprivate func skipFields(_ number: Int, at position: inout Int) -> Bool {
        for _ in 0..<number {
            guard skipSpace(at: &position) else { return false }
            var end = position
            while end < count, self[end] != UInt8(ascii: " ") { end += 1 }
            position = end
        }
        return true
    }

    /// Goes after a space that something else follows.
    private func skipSpace(at position: inout Int) -> Bool {
        guard position + 1 < count, self[position] == UInt8(ascii: " "), self[position + 1] != UInt8(ascii: " ") else {
            return false
        }
        position += 1
        return true
    }
}

/// The scheduler's state of a thread: the letters of proc_pid_stat(5), field 3.
public enum ProcessState: Hashable, Sendable {
    case running
    case sleeping
    /// In a wait that signals other than SIGKILL do not end.
    case uninterruptible
    case stopped
    /// Held by a debugger.
    case traced
    case zombie
    case dead
    case idle
    /// A letter of a kernel newer than this program.
    case other(Character)

    init(letter: UInt8) {
        switch letter {
        case UInt8(ascii: "R"): self = .running
        case UInt8(ascii: "S"): self = .sleeping
        case UInt8(ascii: "D"): self = .uninterruptible
        case UInt8(ascii: "T"): self = .stopped
        case UInt8(ascii: "t"): self = .traced
        case UInt8(ascii: "Z"): self = .zombie
        case UInt8(ascii: "X"), UInt8(ascii: "x"): self = .dead
        case UInt8(ascii: "I"): self = .idle
        default: self = .other(Character(Unicode.Scalar(letter)))
        }
    }

    /// The letter that ps(1) shows.
    public var letter: Character {
        switch self {
        case .running: "R"
        case .sleeping: "S"
        case .uninterruptible: "D"
        case .stopped: "T"
        case .traced: "t"
        case .zombie: "Z"
        case .dead: "X"
        case .idle: "I"
        case .other(let letter): letter
        }
    }

    /// A Boolean value that indicates whether a thread in this state has ended.
    var isGone: Bool { self == .zombie || self == .dead }

    /// A Boolean value that indicates whether a thread in this state is kept from running until another process
    /// continues it.
    var isStoppedOrTraced: Bool { self == .stopped || self == .traced }
}

/// A process number. It means a process only as long as that process has not been reaped.
public typealias ProcessID = Int32

/// A process that cannot be mistaken for a later one with the same number.
public struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The number of the process.
    public let pid: ProcessID
    /// Clock ticks between boot and the start of the process: field 22 of proc_pid_stat(5).
    public let startTime: UInt64

    /// Names a process by its number and its start.
    ///
    /// - Parameters:
    ///   - pid: The number of the process.
    ///   - startTime: Clock ticks between boot and the start of the process: field 22 of proc_pid_stat(5).
    public init(pid: ProcessID, startTime: UInt64) {
        self.pid = pid
        self.startTime = startTime
    }

    /// The number of the process, in decimal.
    public var description: String { String(pid) }
}

extension ProcessIdentity {
    /// Reads the status of the process; nil if it is gone, whatever its number means now.
    func readStatus() throws(Errno) -> ProcessStatus? {
        try ProcessStatus(of: pid).flatMap { $0.startTime == startTime ? $0 : nil }
    }

    /// Reads the status of the process; nil if it has ended.
    func readLivingStatus() throws(Errno) -> ProcessStatus? { try readStatus().flatMap { $0.isZombie ? nil : $0 } }

    /// Returns whether the number still means this process.
    func exists() throws(Errno) -> Bool { try readStatus() != nil }

    /// Returns whether the process has ended.
    func hasEnded() throws(Errno) -> Bool { try readLivingStatus() == nil }

    /// Returns whether the process started after another one. The numbers decide between two of the same clock tick, in
    /// which the kernel gives out no number twice.
    func isYounger(than other: ProcessIdentity) -> Bool {
        (startTime, pid) > (other.startTime, other.pid)
    }
}
