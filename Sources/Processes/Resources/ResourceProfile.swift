/// The share of the machine that the processes of an app get; nil for the value that each has of its own.
public struct ResourceProfile: Hashable, Sendable {
    /// `memory.low` of the cgroup, in bytes: what the kernel leaves to it as long as it finds memory elsewhere.
    public var memoryLow: Int?

    /// The delay that the kernel may add to the timers of each thread, in nanoseconds; it only raises a thread's own
    /// value.
    public var timerSlack: Int?

    /// `pids.max` of the cgroup: the most processes and threads in it.
    public var processLimit: Int?

    /// `cpu.weight` of the cgroup, 1 to 10000, of which 100 is the kernel's default.
    public var cpuWeight: Int?

    /// `io.weight` of the cgroup, 1 to 10000, of which 100 is the kernel's default.
    public var ioWeight: Int?

    /// The I/O priority of each thread, where there is no weight for I/O.
    public var ioPriority: IOPriority?

    /// `oom_score_adj` of each process, -1000 to 1000. From 0 on it only raises what a process has of its own, below 0 it
    /// only lowers it.
    public var oomScoreAdjustment: Int?

    /// Added to the nice value of each thread, where there is no weight for processor time. -20 to 19.
    public var nice: Int?

    /// Creates a profile that leaves each process its own values.
    public init() {}
}

/// An I/O priority as in ioprio_set(2).
public enum IOPriority: Hashable, Sendable {
    /// Before all other classes. The level is 0, which comes first, to 7.
    case realTime(Int)
    /// The default class. The level is 0, which comes first, to 7.
    case bestEffort(Int)
    /// Only when no other process uses the disk.
    case idle

    /// The number that the kernel uses: the class times 8192 plus the level.
    var rawValue: Int {
        switch self {
        case .realTime(let level): 1 << 13 | level
        case .bestEffort(let level): 2 << 13 | level
        case .idle: 3 << 13
        }
    }
}

/// An attribute of an app's cgroup that a ``ResourceProfile`` decides: see the kernel's document "Control Group v2".
enum GroupAttribute: Int, CaseIterable {
    case cpuWeight, ioWeight, memoryLow, processLimit

    /// The name of the file.
    var name: StaticString {
        switch self {
        case .cpuWeight: "cpu.weight"
        case .ioWeight: "io.weight"
        case .memoryLow: "memory.low"
        case .processLimit: "pids.max"
        }
    }

    /// Returns the value for a profile: the default of every cgroup if the profile wants nothing, nil for no limit.
    func value(in profile: ResourceProfile) -> Int? {
        switch self {
        case .cpuWeight: profile.cpuWeight ?? 100
        case .ioWeight: profile.ioWeight ?? 100
        case .memoryLow: profile.memoryLow ?? 0
        case .processLimit: profile.processLimit
        }
    }
}

/// A limit for the processes and threads of an app, as `TasksMax=` of systemd.resource-control(5).
public enum ProcessLimit: Hashable, Sendable {
    /// At most so many.
    case number(Int)
    /// A share of what the machine can have, in percent.
    case percent(Int)
    /// As many as the machine can have.
    case unlimited

    /// Returns the number for `pids.max`; nil for no limit.
    ///
    /// - Parameter possible: The most that the machine can have.
    public func number(of possible: Int) -> Int? {
        switch self {
        case .number(let number): number
        // A machine with a tiny limit still runs one process an app.
        case .percent(let percent): max(possible / 100 * percent + possible % 100 * percent / 100, 1)
        case .unlimited: nil
        }
    }

    /// Returns the most processes and threads that this machine, or the container that this process is in, can have.
    public static func possibleProcesses() -> Int {
        let limits = ["/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max", "/sys/fs/cgroup/pids.max"]
        return limits.compactMap { path in
            (try? ProcFile.read(path, limit: 32)).flatMap { Int(ascii: $0.prefix { $0 != UInt8(ascii: "\n") }) }
        }.min() ?? Int(Int32.max)
    }
}

/// The changes that a ``ResourceControl`` has made to a tree, and the values that the processes had before.
public struct ResourceRecord: Hashable, Sendable {
    var profile = ResourceProfile()
    /// A Boolean value that indicates whether the attributes of the cgroup are those of the profile.
    var areAttributesKnown = true
    /// The settings that could not be changed for every process: the kernel may refuse a process that has just executed
    /// a program.
    var incomplete = CaseSet<ResourceSetting>()
    var ownValues = OwnValues()

    /// A tree to which nothing was done.
    init() {}
}

/// The record as numbers, for a slot of the state file: those of the profile, the settings that are incomplete as bits, and for each
/// setting the number of its values, and five numbers for each.
extension ResourceRecord {
    /// Stands for a number that the profile does not have.
    private static let none = UInt64(bitPattern: Int64.min)

    /// Calls a closure with each number, in order.
    public func forEachNumber(_ body: (UInt64) -> Void) {
        var profile = profile
        profile.forEachNumber { body($0.map { UInt64(bitPattern: Int64($0)) } ?? Self.none) }
        body(UInt64(incomplete.bits))
        for setting in ResourceSetting.allCases { ownValues.forEachNumber(of: setting, body) }
    }

    /// Reads a record; nil if the numbers are none.
    ///
    /// - Parameter next: Returns the next number; nil after the last.
    public init?(next: () -> UInt64?) {
        self.init()
        var isComplete = true
        profile.forEachNumber { number in
            let next = next()
            isComplete = isComplete && next != nil
            number = next.flatMap { $0 == Self.none ? nil : Int(Int64(bitPattern: $0)) }
        }
        profile.nice = profile.nice.flatMap { ResourceSetting.nice.range.contains($0) ? $0 : nil }
        guard isComplete, let bits = next() else { return nil }
        incomplete = CaseSet(bits: UInt8(truncatingIfNeeded: bits))
        for setting in ResourceSetting.allCases {
            guard ownValues.append(of: setting, next: next) else { return nil }
        }
    }
}

extension ResourceProfile {
    /// Reads or replaces each number, in the order of the records: the table of a saved profile. The limit of processes is the same in
    /// all states, and is written to the cgroup again after a restart.
    fileprivate mutating func forEachNumber(_ body: (inout Int?) -> Void) {
        body(&cpuWeight)
        body(&ioWeight)
        body(&memoryLow)
        body(&nice)
        var priority = ioPriority?.rawValue
        body(&priority)
        ioPriority = priority.flatMap { IOPriority(rawValue: $0) }
        body(&oomScoreAdjustment)
        body(&timerSlack)
    }
}

extension IOPriority {
    init?(rawValue: Int) {
        let level = rawValue & 7
        switch rawValue >> 13 {
        case 1: self = .realTime(level)
        case 2: self = .bestEffort(level)
        case 3: self = .idle
        default: return nil
        }
    }
}
