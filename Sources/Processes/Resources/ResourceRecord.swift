/// The changes that a ``ResourceControl`` has made to a tree, and the values that the processes had before.
public struct ResourceRecord: Hashable, Sendable {
    var profile = ResourceProfile()
    /// A Boolean value that indicates whether the attributes of the cgroup are those of the profile.
    var areAttributesKnown = true
    /// The settings that could not be changed for every process: the kernel may refuse a process that has just executed
    /// a program.
    var incomplete = ResourceSettings()
    var ownValues = OwnValueTable()

    /// A tree to which nothing was done.
    init() {}
}

/// The record as one line of text without spaces, as version 1 of the state file has it. Parts are separated by semicolons: the
/// profile, what is incomplete, and the values of each setting.
extension ResourceRecord {
    /// Reads a record; nil if the text is none.
    public init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard parts.count >= 2, let profile = ResourceProfile(text: parts[0]) else { return nil }
        self.init()
        self.profile = profile
        for word in parts[1].split(separator: UInt8(ascii: ",")) {
            if let setting = ResourceSetting(word: word) { incomplete.insert(setting) }
        }
        for part in parts.dropFirst(2) {
            guard let sign = part.firstIndex(of: UInt8(ascii: "=")), let setting = ResourceSetting(word: part[..<sign])
            else { continue }
            let rows = part[part.index(after: sign)...].split(separator: UInt8(ascii: ","))
            ownValues[setting] = OwnValues(rows: rows, within: setting.range)
        }
    }
}

/// The record as numbers, for a slot of the state file: those of the profile, the settings that are incomplete as bits, and for each
/// setting the number of its values, and five numbers for each.
extension ResourceRecord {
    /// Stands for a number that the profile does not have.
    private static let none = UInt64(bitPattern: Int64.min)

    /// Calls a closure with each number, in order.
    public func forEachNumber(_ body: (UInt64) -> Void) {
        for number in profile.numbers { body(number.map { UInt64(bitPattern: Int64($0)) } ?? Self.none) }
        body(UInt64(incomplete.bits))
        for setting in ResourceSetting.allCases { ownValues[setting].forEachNumber(body) }
    }

    /// Reads a record; nil if the numbers are none.
    ///
    /// - Parameter next: Returns the next number; nil behind the last.
    public init?(next: () -> UInt64?) {
        self.init()
        var numbers: [Int?] = []
        for _ in 0..<ResourceProfile.numberCount {
            guard let number = next() else { return nil }
            numbers.append(number == Self.none ? nil : Int(Int64(bitPattern: number)))
        }
        profile = ResourceProfile(numbers: numbers)
        guard let bits = next() else { return nil }
        incomplete = ResourceSettings(bits: UInt8(truncatingIfNeeded: bits))
        for setting in ResourceSetting.allCases {
            guard let values = OwnValues(within: setting.range, next: next) else { return nil }
            if !values.isEmpty { ownValues[setting] = values }
        }
    }
}

extension ResourceSetting {
    fileprivate init?(word: Substring.UTF8View) {
        guard let setting = Self.allCases.first(where: { $0.word.utf8.elementsEqual(word) }) else { return nil }
        self = setting
    }
}

extension Substring.UTF8View {
    /// Returns the number that this is in full.
    func number<Number: FixedWidthInteger>() -> Number? { Number(Substring(self)) }
}

extension ResourceProfile {
    fileprivate static let numberCount = 7

    /// The numbers in the order of the properties. The limit of processes is the same in all states, and is written to the
    /// cgroup again after a restart.
    fileprivate var numbers: [Int?] {
        [cpuWeight, ioWeight, memoryLow, nice, ioPriority?.rawValue, oomScoreAdjustment, timerSlack]
    }

    fileprivate init?(text: Substring.UTF8View) {
        let numbers = text.split(separator: UInt8(ascii: ",")).map { $0.number() as Int? }
        guard numbers.count == Self.numberCount else { return nil }
        self.init(numbers: numbers)
    }

    /// - Parameter numbers: As many as ``numberCount``.
    fileprivate init(numbers: [Int?]) {
        self.init()
        cpuWeight = numbers[0]
        ioWeight = numbers[1]
        memoryLow = numbers[2]
        nice = numbers[3].flatMap { ResourceSetting.nice.range.contains($0) ? $0 : nil }
        ioPriority = numbers[4].flatMap { IOPriority(rawValue: $0) }
        oomScoreAdjustment = numbers[5]
        timerSlack = numbers[6]
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

/// The values that threads or processes had of their own before they were changed, for one ``ResourceSetting``.
///
/// A value that differs from the last one set was chosen by the program itself meanwhile, and is its own from then on.
/// A process that was born since has inherited the value that was set, and the own value that it stands for.
struct OwnValues: Hashable {
    /// A thread of a process, or a process, whose number is then that of its first thread.
    struct Bearer: Hashable {
        let process: ProcessIdentity
        let id: ProcessID
    }

    struct Record: Hashable {
        let own: Int
        let set: Int

        /// Returns the own value of a bearer that has a value now.
        func own(current: Int) -> Int { set == current ? own : current }
    }

    struct Entry: Hashable {
        let bearer: Bearer
        let record: Record
    }

    private(set) var entries: [Entry] = []
    private static let searchLimit = 8

    /// Sets each bearer's value to the desired one.
    ///
    /// - Parameter bearers: All of them, with their present values. Records of others are removed.
    /// - Parameter desired: Returns the value for a bearer with this value of its own.
    /// - Parameter set: Sets a value, and says whether it was.
    mutating func update(
        _ bearers: [(bearer: Bearer, current: Int)], desired: (_ own: Int) -> Int,
        set: (_ bearer: Bearer, _ value: Int) -> Bool
    ) {
        lazy var inheritance = inheritedValues()
        // A program may have thousands of threads.
        var known: [Bearer: Record] = [:]
        if entries.count > Self.searchLimit { for entry in entries { known[entry.bearer] = entry.record } }
        var updated: [Entry] = []
        for (bearer, current) in bearers {
            let record = known[bearer] ?? (known.isEmpty ? entries.last { $0.bearer == bearer }?.record : nil)
            let own = record.map { $0.own(current: current) } ?? inheritance[current] ?? current
            let value = desired(own)
            let isSet = value == current || set(bearer, value)
            let present = isSet ? value : current
            if present != own { updated.append(Entry(bearer: bearer, record: Record(own: own, set: present))) }
        }
        entries = updated
    }

    /// Returns the own value for each value that was set. If one stands for several, the oldest process decides.
    private func inheritedValues() -> [Int: Int] {
        var values: [Int: (own: Int, bearer: Bearer)] = [:]
        for entry in entries {
            let (bearer, record) = (entry.bearer, entry.record)
            if let known = values[record.set], known.bearer.isOlder(than: bearer) { continue }
            values[record.set] = (record.own, bearer)
        }
        return values.mapValues { $0.own }
    }
}

extension OwnValues.Bearer {
    fileprivate func isOlder(than other: Self) -> Bool {
        (process.startTime, process.pid, id) < (other.process.startTime, other.process.pid, other.id)
    }
}

extension OwnValues {
    init(_ entries: [Entry]) { self.entries = entries }

    var isEmpty: Bool { entries.isEmpty }

    /// Calls a closure with the number of values, and the numbers of each: process, its start, thread, own value, set value.
    func forEachNumber(_ body: (UInt64) -> Void) {
        body(UInt64(entries.count))
        for entry in entries {
            let (bearer, record) = (entry.bearer, entry.record)
            body(UInt64(bitPattern: Int64(bearer.process.pid)))
            body(bearer.process.startTime)
            for number in [Int(bearer.id), record.own, record.set] { body(UInt64(bitPattern: Int64(number))) }
        }
    }

    /// Reads numbers, and leaves out the values that no process can have; nil if some are missing.
    init?(within range: ClosedRange<Int>, next: () -> UInt64?) {
        guard var rest = next() else { return nil }
        while rest > 0 {
            guard let pid = next(), let startTime = next(), let id = next(), let own = next(), let set = next() else {
                return nil
            }
            rest -= 1
            let values = Record(own: Int(Int64(bitPattern: own)), set: Int(Int64(bitPattern: set)))
            guard let pid = ProcessID(exactly: Int64(bitPattern: pid)),
                let id = ProcessID(exactly: Int64(bitPattern: id)),
                range.contains(values.own), range.contains(values.set)
            else { continue }
            let process = ProcessIdentity(pid: pid, startTime: startTime)
            entries.append(Entry(bearer: Bearer(process: process, id: id), record: values))
        }
    }

    /// Reads rows of the same numbers, and leaves out those that make no sense or hold a value that no process can have.
    init(rows: some Sequence<Substring.UTF8View>, within range: ClosedRange<Int>) {
        for row in rows {
            let parts = row.split(separator: UInt8(ascii: ":"))
            guard parts.count == 5, let pid: ProcessID = parts[0].number(), let startTime: UInt64 = parts[1].number(),
                let id: ProcessID = parts[2].number(), let own: Int = parts[3].number(),
                let set: Int = parts[4].number(),
                range.contains(own), range.contains(set)
            else { continue }
            let bearer = Bearer(process: ProcessIdentity(pid: pid, startTime: startTime), id: id)
            entries.append(Entry(bearer: bearer, record: Record(own: own, set: set)))
        }
    }
}

/// The values of all settings that the threads and processes of an app had of their own, in one array.
///
/// Most apps have one process, and a value of it for one or two settings: an array for each setting takes twice as much memory.
struct OwnValueTable: Hashable {
    private struct Entry: Hashable {
        let startTime: UInt64
        let own: Int
        let set: Int
        let pid: ProcessID
        let id: ProcessID
        let setting: ResourceSetting
    }

    private var entries: [Entry] = []

    subscript(setting: ResourceSetting) -> OwnValues {
        get {
            var found: [OwnValues.Entry] = []
            for entry in entries where entry.setting == setting {
                let process = ProcessIdentity(pid: entry.pid, startTime: entry.startTime)
                found.append(
                    OwnValues.Entry(
                        bearer: OwnValues.Bearer(process: process, id: entry.id),
                        record: OwnValues.Record(own: entry.own, set: entry.set)))
            }
            return OwnValues(found)
        }
        set { replace(newValue.entries, of: setting) }
    }

    private mutating func replace(_ new: [OwnValues.Entry], of setting: ResourceSetting) {
        let others = entries.filter { $0.setting != setting }
        guard !new.isEmpty || others.count < entries.count else { return }
        // An array that is appended to has room for twice as many.
        var all: [Entry] = []
        all.reserveCapacity(others.count + new.count)
        all += others
        for entry in new {
            let process = entry.bearer.process
            all.append(
                Entry(
                    startTime: process.startTime, own: entry.record.own, set: entry.record.set, pid: process.pid,
                    id: entry.bearer.id, setting: setting))
        }
        entries = all
    }
}

/// A set of settings, in one byte.
struct ResourceSettings: Hashable {
    /// A bit for each setting.
    private(set) var bits: UInt8 = 0

    init() {}

    /// Creates a set of the settings that these bits stand for; other bits are ignored.
    init(bits: UInt8) { self.bits = bits & (1 << ResourceSetting.allCases.count - 1) }

    var isEmpty: Bool { bits == 0 }
    var all: [ResourceSetting] { ResourceSetting.allCases.filter(contains) }
    func contains(_ setting: ResourceSetting) -> Bool { bits & 1 << setting.rawValue != 0 }
    mutating func insert(_ setting: ResourceSetting) { bits |= 1 << setting.rawValue }
    mutating func remove(_ setting: ResourceSetting) { bits &= ~(1 << setting.rawValue) }
}
