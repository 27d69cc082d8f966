/// The dense index of an app, from its definition until it is forgotten.
///
/// The position of a forgotten app is given to a later one, with the next generation. So an index that was kept for too long is not
/// equal to that of the later app.
public struct AppIndex: Hashable, Sendable {
    private let position: UInt32
    /// The number of apps that had the position before.
    public let generation: UInt32

    /// The position in a table of all apps.
    @inline(__always) public var value: Int { Int(position) }

    /// The position and the generation as one number.
    public var number: UInt64 { UInt64(position) << 32 | UInt64(generation) }

    /// Creates the index of a position.
    ///
    /// - Parameters:
    ///   - value: The position in a table of all apps, from 0.
    ///   - generation: The number of apps that had the position before.
    public init(value: Int, generation: UInt32 = 0) {
        position = UInt32(value)
        self.generation = generation
    }

    /// Creates the index that has this number; see ``number``.
    public init(number: UInt64) {
        position = UInt32(truncatingIfNeeded: number >> 32)
        generation = UInt32(truncatingIfNeeded: number)
    }

    /// The index of the next app that gets the position.
    var next: AppIndex { AppIndex(value: value, generation: generation &+ 1) }
}

/// The apps by id and by index. An index stays the same from the definition of an app until it is forgotten.
public struct AppTable: Sendable {
    private var ids = AppIDTable()
    private var machines: [AppMachine] = []
    /// The indexes of forgotten apps, whose machines are left over.
    private var free: [AppIndex] = []
    /// The apps that the last input has forgotten. Their indexes are free from the next input on.
    private var leaving: [AppIndex] = []
    /// The apps whose records may have changed since the last ``Lifecycle/takeChangedIndex()``.
    var changed = AppQueue()
    /// The policy that an app got last: most apps have equal ones.
    private var latestPolicy: Box<Policy>?

    /// The app of this id; nil if it is not known.
    public subscript(id: AppID) -> AppMachine? { position(of: id).map { machines[$0] } }

    /// The app of this index; nil if it is not known any more.
    public subscript(known index: AppIndex) -> AppMachine? {
        contains(index) ? machines[index.value] : nil
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

    /// The app of an index. Each change notes that its record may have changed.
    subscript(index: AppIndex) -> AppMachine {
        _read { yield machines[index.value] }
        _modify {
            changed.append(index)
            yield &machines[index.value]
        }
    }

    /// Writes the record of an app, which does not change it: the table of fields takes it as variable because it reads records, too.
    @inline(__always)
    mutating func write(
        _ index: AppIndex, _ deadlines: [SavedDeadline], with coder: inout some SavedCoder & ~Copyable
    ) {
        var deadlines = deadlines
        machines[index.value].code(&deadlines, with: &coder)
    }

    /// The indexes in the order of the ids.
    var sortedIndexes: [AppIndex] { sortedIndexes { _ in true } }

    /// Returns the indexes of the apps that match, in the order of the ids.
    func sortedIndexes(where matches: (AppMachine) -> Bool) -> [AppIndex] {
        var found: [AppIndex] = []
        for position in machines.indices where !machines[position].isForgotten && matches(machines[position]) {
            found.append(machines[position].index)
        }
        return sorted(found)
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

    mutating func reserveCapacity(_ count: Int) { machines.reserveCapacity(count) }

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
        changed.append(index)
        leaving.append(machines[index.value].index)
    }

    func id(of index: AppIndex) -> AppID { machines[index.value].id }

    /// Returns whether the index is that of a known app. That of a forgotten app is not, whichever app has its position by now.
    func contains(_ index: AppIndex) -> Bool {
        index.value < machines.count && machines[index.value].index == index && !machines[index.value].isForgotten
    }

    /// Returns the index of the known app at a position that was in use; nil if the app was forgotten.
    func index(at position: Int) -> AppIndex? {
        machines[position].isForgotten ? nil : machines[position].index
    }
}

/// The positions of apps in another table by their ids: a hash table of numbers, which takes 8 bytes for each app. A dictionary takes
/// five times as much, because it has the ids once more.
public struct AppIDTable: Sendable {
    /// The positions, each at the bucket of its hash or behind it; -1 for none. At most two of three buckets are taken.
    private var buckets: [Int32] = []
    /// The number of apps.
    public private(set) var count = 0

    /// Creates a table without apps.
    public init() {}

    /// Returns the position of an app.
    ///
    /// - Parameters:
    ///   - id: The id of the app.
    ///   - isID: Returns whether the app at a position has the id.
    /// - Returns: The position; nil if the table does not have the app.
    @inline(__always)
    public func position(of id: AppID, where isID: (Int) -> Bool) -> Int? {
        guard !buckets.isEmpty else { return nil }
        let position = buckets[bucket(of: id) { $0 < 0 || isID(Int($0)) }]
        return position < 0 ? nil : Int(position)
    }

    /// Returns the first bucket of the id, or behind it, with a position that matches.
    @inline(__always)
    private func bucket(of id: AppID, where matches: (Int32) -> Bool) -> Int {
        var bucket = id.hash & (buckets.count - 1)
        while !matches(buckets[bucket]) { bucket = (bucket + 1) & (buckets.count - 1) }
        return bucket
    }

    /// Adds an app that the table does not have.
    ///
    /// - Parameters:
    ///   - position: The position of the app.
    ///   - id: Returns the id of the app at a position.
    public mutating func insert(_ position: Int, id: (Int) -> AppID) {
        count += 1
        if 3 * count > 2 * buckets.count {
            let former = buckets.filter { $0 >= 0 }
            buckets = [Int32](repeating: -1, count: max(8, buckets.count * 2))
            for position in former { buckets[bucket(of: id(Int(position))) { $0 < 0 }] = position }
        }
        buckets[bucket(of: id(position)) { $0 < 0 }] = Int32(position)
    }

    /// Removes an app that the table has.
    ///
    /// - Parameters:
    ///   - position: The position of the app.
    ///   - id: Returns the id of the app at a position.
    public mutating func remove(_ position: Int, id: (Int) -> AppID) {
        let mask = buckets.count - 1
        var gap = bucket(of: id(position)) { $0 == Int32(position) }
        count -= 1
        // The apps behind the gap move up, unless the gap is before the bucket of their hash.
        var bucket = gap
        while true {
            bucket = (bucket + 1) & mask
            guard buckets[bucket] >= 0 else { break }
            let wanted = id(Int(buckets[bucket])).hash & mask
            guard (bucket - wanted) & mask >= (bucket - gap) & mask else { continue }
            buckets[gap] = buckets[bucket]
            gap = bucket
        }
        buckets[gap] = -1
    }
}
