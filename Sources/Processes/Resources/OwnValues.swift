/// The values that the threads and processes of an app had before they were changed.
///
/// All settings are in one array: most apps have few values. A value that differs from the last one set is the program's own from then
/// on. A process that was born since has inherited the value that was set, and the own value behind it.
struct OwnValues: Hashable {
    /// A thread of a process, or a process, whose number is then that of its first thread.
    struct Subject: Hashable {
        let process: ProcessIdentity
        let id: ProcessID

        func isOlder(than other: Self) -> Bool {
            (process.startTime, process.pid, id) < (other.process.startTime, other.process.pid, other.id)
        }
    }

    struct Entry: Hashable {
        private let startTime: UInt64
        let own: Int
        let set: Int
        private let pid: ProcessID
        private let id: ProcessID
        let setting: ResourceSetting

        init(_ setting: ResourceSetting, of subject: Subject, own: Int, set: Int) {
            (self.setting, self.own, self.set) = (setting, own, set)
            (startTime, pid, id) = (subject.process.startTime, subject.process.pid, subject.id)
        }

        var subject: Subject { Subject(process: ProcessIdentity(pid: pid, startTime: startTime), id: id) }
    }

    private(set) var entries: [Entry] = []

    /// Creates values of no subject.
    init() {}

    private init(entries: [Entry]) { self.entries = entries }

    var isEmpty: Bool { entries.isEmpty }

    /// The processes of the subjects, some more than once.
    var processes: some Sequence<ProcessIdentity> { entries.lazy.map { $0.subject.process } }

    mutating func remove(of processes: Set<ProcessIdentity>) {
        entries.removeAll { processes.contains($0.subject.process) }
    }

    /// More values than most apps have of a setting.
    private static let usualCount: UInt64 = 8
}

// MARK: - Changes

extension OwnValues {
    /// A change of some settings of all subjects. The entries of other settings stay; those of subjects that are gone do not.
    struct Update {
        private let former: [Entry]
        private var entries: [Entry] = []
        /// The former entries by subject, if there are so many that a search takes longer.
        private var known: [Key: [Entry]]?
        private lazy var inherited = inheritedValues()

        private struct Key: Hashable {
            let setting: ResourceSetting
            let subject: Subject
        }

        /// The key of a value that was set.
        private struct Value: Hashable {
            let setting: ResourceSetting
            let set: Int
        }

        private static let searchLimit = 16

        /// The values after the change.
        var values: OwnValues { entries.isEmpty ? OwnValues() : OwnValues(entries: entries) }

        /// - Parameter count: The number of entries that may be added.
        init(_ values: OwnValues, of settings: CaseSet<ResourceSetting>, count: Int) {
            former = values.entries
            // An array that is appended to has room for twice as many.
            let kept = former.count { !settings.contains($0.setting) }
            entries.reserveCapacity(kept + count)
            for entry in former where !settings.contains(entry.setting) { entries.append(entry) }
            guard former.count > Self.searchLimit else { return }
            var known: [Key: [Entry]] = [:]
            for entry in former {
                known[Key(setting: entry.setting, subject: entry.subject), default: []].append(entry)
            }
            self.known = known
        }

        /// Returns the value of its own of a subject that has a value now.
        mutating func own(_ setting: ResourceSetting, of subject: Subject, current: Int) -> Int {
            if former.isEmpty { return current }
            if let own = noted(setting, of: subject, current: current) { return own }
            return inherited[Value(setting: setting, set: current)]?.own ?? current
        }

        /// Notes the value that a subject has now.
        mutating func note(_ setting: ResourceSetting, of subject: Subject, own: Int, present: Int) {
            guard present != own else { return }
            entries.append(Entry(setting, of: subject, own: own, set: present))
        }

        /// Notes the values that a subject has before and after a change that is about to be made.
        mutating func note(_ setting: ResourceSetting, of subject: Subject, own: Int, before: Int, after: Int) {
            note(setting, of: subject, own: own, present: after)
            if before != after { note(setting, of: subject, own: own, present: before) }
        }

        /// Returns the value of its own of a subject with former entries: of one about to change there are two.
        private func noted(_ setting: ResourceSetting, of subject: Subject, current: Int) -> Int? {
            var isNoted = false
            if let known {
                guard let entries = known[Key(setting: setting, subject: subject)] else { return nil }
                return entries.first { $0.set == current }?.own ?? current
            }
            var position = former.count
            while position > 0 {
                position -= 1
                guard former[position].setting == setting, former[position].subject == subject else { continue }
                if former[position].set == current { return former[position].own }
                isNoted = true
            }
            return isNoted ? current : nil
        }

        /// Returns the own value for each value that was set. If one stands for several, the oldest process decides.
        private func inheritedValues() -> [Value: Entry] {
            var oldest: [Value: Entry] = [:]
            for entry in former {
                let value = Value(setting: entry.setting, set: entry.set)
                if let known = oldest[value], known.subject.isOlder(than: entry.subject) { continue }
                oldest[value] = entry
            }
            return oldest
        }
    }
}

// MARK: - Records

extension OwnValues {
    /// Calls a closure with the number of values of a setting, and the numbers of each: process, its start, thread, own value, set value.
    func forEachNumber(of setting: ResourceSetting, _ body: (UInt64) -> Void) {
        body(UInt64(entries.count { $0.setting == setting }))
        for entry in entries where entry.setting == setting {
            let subject = entry.subject
            body(UInt64(bitPattern: Int64(subject.process.pid)))
            body(subject.process.startTime)
            body(UInt64(bitPattern: Int64(subject.id)))
            body(UInt64(bitPattern: Int64(entry.own)))
            body(UInt64(bitPattern: Int64(entry.set)))
        }
    }

    /// Reads numbers of a setting, and leaves out the values that no process can have.
    ///
    /// - Returns: False if some are missing.
    mutating func append(of setting: ResourceSetting, next: () -> UInt64?) -> Bool {
        guard var rest = next() else { return false }
        entries.reserveCapacity(entries.count + Int(min(rest, Self.usualCount)))
        while rest > 0 {
            guard let pid = next(), let startTime = next(), let id = next(), let own = next(), let set = next() else {
                return false
            }
            rest -= 1
            guard let pid = ProcessID(exactly: Int64(bitPattern: pid)),
                let id = ProcessID(exactly: Int64(bitPattern: id))
            else { continue }
            let subject = Subject(process: ProcessIdentity(pid: pid, startTime: startTime), id: id)
            append(setting, of: subject, own: Int(Int64(bitPattern: own)), set: Int(Int64(bitPattern: set)))
        }
        return true
    }

    private mutating func append(_ setting: ResourceSetting, of subject: Subject, own: Int, set: Int) {
        guard setting.range.contains(own), setting.range.contains(set) else { return }
        entries.append(Entry(setting, of: subject, own: own, set: set))
    }
}
