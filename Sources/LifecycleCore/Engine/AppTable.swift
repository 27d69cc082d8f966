import OrderedCollections

/// The dense index of an app, from its definition until it is forgotten.
///
/// The position of a forgotten app is given to a later one, with the next generation. So an index that was kept for too long is not
/// equal to that of the later app.
public struct AppIndex: Hashable, Sendable {
    private let position: UInt32
    /// The number of apps that had the position before.
    public let generation: UInt32

    /// The position in a table of all apps.
    public var value: Int { Int(position) }

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
    private var positions: [AppID: Int] = [:]
    private var machines: [AppMachine] = []
    /// The indexes of forgotten apps, whose machines are left over.
    private var free: [AppIndex] = []
    /// The apps that the last input has forgotten. Their indexes are free from the next input on.
    private var leaving: [AppIndex] = []
    /// The apps whose records may have changed since the last ``Engine/takeChangedIndexes()``.
    var changed: OrderedSet<AppIndex> = []

    /// The app of this id; nil if it is not known.
    public subscript(id: AppID) -> AppMachine? { positions[id].map { machines[$0] } }

    /// The app of this index; nil if it is not known any more.
    public subscript(known index: AppIndex) -> AppMachine? {
        contains(index) ? machines[index.value] : nil
    }

    /// The ids, in no order.
    public var keys: [AppID] { values.map { $0.id } }

    /// The apps, in no order.
    public var values: some Collection<AppMachine> { machines.lazy.filter { !$0.isForgotten } }

    /// The apps in the order of the ids.
    public var valuesByID: [AppMachine] { sortedIndexes.map { machines[$0.value] } }

    /// The number of apps.
    public var count: Int { positions.count }

    func index(of id: AppID) -> AppIndex? { positions[id].map { machines[$0].index } }

    /// Returns the index of an app that is known, or that the last input has forgotten.
    func latestIndex(of id: AppID) -> AppIndex? {
        index(of: id) ?? leaving.last { machines[$0.value].id == id }
    }

    /// Frees the indexes of the apps that the last input has forgotten: what it led to was performed.
    mutating func freeIndexes() {
        guard !leaving.isEmpty else { return }
        free += leaving
        leaving = []
    }

    /// The app of an index. Each change notes that its record may have changed.
    subscript(index: AppIndex) -> AppMachine {
        get { machines[index.value] }
        _modify {
            changed.append(index)
            yield &machines[index.value]
        }
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
        let machine = AppMachine(id: id, index: index, policy: policy, since: since)
        if index.value == machines.count { machines.append(machine) } else { machines[index.value] = machine }
        positions[id] = index.value
        return index
    }

    mutating func reserveCapacity(_ count: Int) { machines.reserveCapacity(count) }

    mutating func remove(_ index: AppIndex) {
        guard contains(index) else { return }
        positions[machines[index.value].id] = nil
        machines[index.value].isForgotten = true
        changed.append(index)
        leaving.append(machines[index.value].index)
    }

    func id(of index: AppIndex) -> AppID { machines[index.value].id }

    /// Returns whether the index is that of a known app. That of a forgotten app is not, whichever app has its position by now.
    func contains(_ index: AppIndex) -> Bool {
        index.value < machines.count && machines[index.value].index == index && !machines[index.value].isForgotten
    }
}
