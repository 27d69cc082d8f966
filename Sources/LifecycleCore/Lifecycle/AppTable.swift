/// The apps by id and by index. An index stays the same from the definition of an app until it is forgotten.
public struct AppTable: Sendable {
    private var indexes: [AppID: AppIndex] = [:]
    private var machines: [AppMachine] = []
    /// The indexes of forgotten apps, whose machines are left over.
    private var free: [AppIndex] = []
    /// The policy that an app got last: most apps have equal ones.
    private var latestPolicy: Box<Policy>?

    /// The app of this id; nil if it is not known.
    public subscript(id: AppID) -> AppMachine? { indexes[id].map { machines[$0.value] } }

    /// The ids, in no order.
    public var keys: some Collection<AppID> { indexes.keys }

    /// The apps, in no order.
    public var values: some Collection<AppMachine> { indexes.values.lazy.map { machines[$0.value] } }

    /// The apps in the order of the ids. Only numbers are moved to sort them.
    public var valuesByID: [AppMachine] { sortedIndexes.map { machines[$0.value] } }

    /// The number of apps.
    public var count: Int { indexes.count }

    func index(of id: AppID) -> AppIndex? { indexes[id] }

    subscript(index: AppIndex) -> AppMachine {
        _read { yield machines[index.value] }
        _modify { yield &machines[index.value] }
    }

    /// The indexes in the order of the ids.
    var sortedIndexes: [AppIndex] { sortedIndexes { _ in true } }

    /// Returns the indexes of the apps that match, in the order of the ids.
    func sortedIndexes(where matches: (AppMachine) -> Bool) -> [AppIndex] {
        sorted(indexes.values.filter { matches(machines[$0.value]) })
    }

    /// Returns the indexes in the order of the ids.
    func sorted(_ apps: some Sequence<AppIndex>) -> [AppIndex] {
        apps.sorted { machines[$0.value].id < machines[$1.value].id }
    }

    /// Adds an app that is not known.
    mutating func insert(_ id: AppID, _ policy: Policy, since: Instant) -> AppIndex {
        let index = free.popLast() ?? AppIndex(value: machines.count)
        let machine = AppMachine(id: id, index: index, policy: share(policy), since: since)
        if index.value == machines.count { machines.append(machine) } else { machines[index.value] = machine }
        indexes[id] = index
        return index
    }

    /// Returns the policy on the heap: that of the latest app, if it is equal.
    mutating func share(_ policy: Policy) -> Box<Policy> {
        if let latestPolicy, latestPolicy.value == policy { return latestPolicy }
        let shared = Box(policy)
        latestPolicy = shared
        return shared
    }

    mutating func remove(_ index: AppIndex) {
        guard indexes.removeValue(forKey: machines[index.value].id) != nil else { return }
        machines[index.value].isForgotten = true
        free.append(index)
    }

    func id(of index: AppIndex) -> AppID { machines[index.value].id }

    /// Returns whether the app was told to resign.
    func isResigning(_ index: AppIndex) -> Bool { machines[index.value].isResigning }

    /// Returns whether the index is that of a known app.
    func contains(_ index: AppIndex) -> Bool { !machines[index.value].isForgotten }
}

/// The apps whose records may have changed, forgotten ones included.
struct ChangedApps: Sendable {
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
            indexes.removeAll(keepingCapacity: true)
            if !forgotten.isEmpty { forgotten = [] }
        }
        return (indexes, forgotten)
    }
}
