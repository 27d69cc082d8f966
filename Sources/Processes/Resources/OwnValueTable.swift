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
