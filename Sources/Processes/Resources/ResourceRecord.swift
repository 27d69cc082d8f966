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
    /// - Parameter next: Returns the next number; nil behind the last.
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
