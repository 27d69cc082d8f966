/// The apps by id and by index. An index stays the same from the definition of an app until it is forgotten.
public struct AppTable: Sendable {
    private var ids = AppIDTable()
    private var machines: [AppMachine] = []
    /// The indexes of forgotten apps, whose machines are left over.
    private var free: [AppIndex] = []
    /// The apps that the last input has forgotten. Their indexes are free from the next input on.
    private var leaving: [AppIndex] = []
    /// The policy that an app got last: most apps have equal ones.
    private var latestPolicy: Box<Policy>?

    /// The app of this id; nil if it is not known.
    public subscript(id: AppID) -> AppMachine? { position(of: id).map { machines[$0] } }

    /// The app of this index; nil if it is not known any more.
    public subscript(known index: AppIndex) -> AppMachine? {
        guard index.value < machines.count, machines[index.value].index == index, contains(index) else { return nil }
        return machines[index.value]
    }

    /// The ids, in no order.
    public var keys: [AppID] { values.map { $0.id } }

    /// The apps, in no order.
    public var values: some Collection<AppMachine> { machines.lazy.filter { !$0.isForgotten } }

    /// The apps in the order of the ids. Only numbers are moved to sort them.
    public var valuesByID: [AppMachine] { sortedIndexes.map { machines[$0.value] } }

    /// The number of apps.
    public var count: Int { ids.count }

    @inline(__always)
    private func position(of id: AppID) -> Int? { ids.position(of: id) { machines[$0].id == id } }

    func index(of id: AppID) -> AppIndex? { position(of: id).map { machines[$0].index } }

    /// Returns the index of an app that is known, or that the last input has forgotten.
    func latestIndex(of id: AppID) -> AppIndex? {
        index(of: id) ?? leaving.last { machines[$0.value].id == id }
    }

    /// Frees the indexes of the apps that the last input has forgotten: its effects were performed.
    mutating func freeIndexes() {
        guard !leaving.isEmpty else { return }
        free += leaving
        leaving = []
    }

    subscript(index: AppIndex) -> AppMachine {
        _read { yield machines[index.value] }
        _modify { yield &machines[index.value] }
    }

    /// The indexes in the order of the ids.
    var sortedIndexes: [AppIndex] { sortedIndexes { _ in true } }

    /// Returns the indexes of the apps that match, in the order of the ids.
    func sortedIndexes(where matches: (AppMachine) -> Bool) -> [AppIndex] {
        sorted(machines.filter { !$0.isForgotten && matches($0) }.map { $0.index })
    }

    /// Returns the indexes in the order of the ids.
    func sorted(_ apps: some Sequence<AppIndex>) -> [AppIndex] {
        apps.sorted { machines[$0.value].id < machines[$1.value].id }
    }

    /// Adds an app that is not known.
    mutating func insert(_ id: AppID, _ policy: Policy, since: Instant) -> AppIndex {
        let index = free.popLast()?.next ?? AppIndex(value: machines.count)
        let machine = AppMachine(id: id, index: index, policy: share(policy), since: since)
        if index.value == machines.count { append(machine) } else { machines[index.value] = machine }
        ids.insert(index.value) { [machines] in machines[$0].id }
        return index
    }

    /// Adds a machine behind the others. An array alone grows to twice its size, and machines are large.
    private mutating func append(_ machine: AppMachine) {
        if machines.count == machines.capacity { machines.reserveCapacity(machines.count + machines.count / 8 + 8) }
        machines.append(machine)
    }

    /// Returns the policy on the heap: that of the latest app, if it is equal.
    mutating func share(_ policy: Policy) -> Box<Policy> {
        if let latestPolicy, latestPolicy.value == policy { return latestPolicy }
        let shared = Box(policy)
        latestPolicy = shared
        return shared
    }

    mutating func remove(_ index: AppIndex) {
        guard contains(index) else { return }
        ids.remove(index.value) { [machines] in machines[$0].id }
        machines[index.value].isForgotten = true
        leaving.append(machines[index.value].index)
    }

    func id(of index: AppIndex) -> AppID { machines[index.value].id }

    /// Returns whether the app was told to resign.
    func isResigning(_ index: AppIndex) -> Bool { machines[index.value].isResigning }

    /// Returns whether the index is that of a known app.
    func contains(_ index: AppIndex) -> Bool { !machines[index.value].isForgotten }
}

/// The apps whose records may have changed, forgotten ones included.
struct ChangedApps: Sendable {
    /// The number of apps for which room is kept. Only a restart changes all.
    private static let countToKeep = 256

    private var indexes: [AppIndex] = []
    private var isListed: [Bool] = []
    private var forgotten: [AppID] = []

    mutating func append(forgotten id: AppID, _ app: AppIndex) {
        append(app)
        forgotten.append(id)
    }

    mutating func append(_ app: AppIndex) {
        while isListed.count <= app.value { isListed.append(false) }
        guard !isListed[app.value] else { return }
        isListed[app.value] = true
        indexes.append(app)
    }

    /// Returns the indexes since the last call, and the ids of apps that were forgotten. An index may belong to another app by now.
    mutating func takeAll() -> (indexes: [AppIndex], forgotten: [AppID]) {
        guard !indexes.isEmpty else { return ([], []) }
        for index in indexes { isListed[index.value] = false }
        defer {
            indexes.removeAll(keepingCapacity: indexes.count <= Self.countToKeep)
            if !forgotten.isEmpty { forgotten = [] }
        }
        return (indexes, forgotten)
    }
}
