import LifecycleCore

/// The interruptions of clients, as the next daemon must know them.
final class Interruptions {
    private let driver: CoreDriver
    var bound = BoundInterruptions() {
        didSet {
            if bound != oldValue { driver.store.save(.bound, bound.saved) }
        }
    }

    init(driver: CoreDriver) { self.driver = driver }

    /// Restores those of the previous daemon. None of their clients is connected.
    func restore(_ record: SavedRecord) {
        bound.restore(record)
        forgetEnded()
    }

    /// Ends the interruptions whose clients are gone.
    func endAbandoned() {
        for name in bound.abandoned { driver.request(.endInterruption(name, answer: nil)) }
    }

    /// Forgets the clients of interruptions that have ended, before another client begins one of the same name.
    func forgetEnded() {
        if !bound.isEmpty { bound.removeAll(except: driver.core.interruptions) }
    }
}

/// The interruptions that end with the connections of their clients: all of these have begun them with `whileConnected`. And the
/// members of the group `lifed` who have begun interruptions.
///
/// They are saved before they begin, and until their ends are: the next daemon has none of the connections, and ends them all.
struct BoundInterruptions: Equatable {
    /// The connections by the names of the interruptions; none for an interruption that is about to end.
    private var connections: [String: Set<ObjectIdentifier>] = [:]
    /// The members by the names of the interruptions that they have begun.
    private var members: [String: UInt32] = [:]

    /// The number of interruptions that one member may have begun, and that all members together may.
    static let memberLimit = 16
    static let limitOfMembers = Engine.interruptionLimit - 16

    var isEmpty: Bool { connections.isEmpty && members.isEmpty }
    /// The names of the interruptions, in their order.
    var names: [String] { connections.keys.sorted() }
    /// The names of the interruptions whose clients are gone, in their order.
    var abandoned: [String] { connections.filter(\.value.isEmpty).keys.sorted() }

    func contains(_ name: String) -> Bool { connections[name] != nil }

    mutating func add(_ name: String, to connection: ControlConnection) {
        connections[name, default: []].insert(ObjectIdentifier(connection))
    }

    mutating func remove(_ connection: ControlConnection) {
        for name in connections.keys { connections[name]?.remove(ObjectIdentifier(connection)) }
    }

    /// Lets an interruption last until it is ended by its name.
    mutating func removeAll(of name: String) { connections[name] = nil }

    /// Returns the member who has begun an interruption.
    func member(of name: String) -> UInt32? { members[name] }

    /// Notes the member who begins an interruption.
    ///
    /// - Returns: The reason why the member may not; nil if the member may.
    mutating func begin(_ name: String, by member: UInt32) -> String? {
        guard members.values.count(where: { $0 == member }) < Self.memberLimit else {
            return "user \(member) has begun \(Self.memberLimit) interruptions, as many as a member may"
        }
        guard members.count < Self.limitOfMembers else {
            return "members have begun \(Self.limitOfMembers) interruptions, and only administrators may begin more"
        }
        members[name] = member
        return nil
    }

    /// Removes the interruptions that have ended.
    mutating func removeAll(except names: some Collection<String>) {
        connections = connections.filter { names.contains($0.key) }
        members = members.filter { names.contains($0.key) }
    }
}

extension BoundInterruptions: SavedTable {
    mutating func code(with coder: inout SavedCoder) {
        let names = coder.list("interruption", names)
        if coder.isReading { for name in names { connections[name] = [] } }
        let begun = coder.list("begun-by", members.map { "\($0.value):\($0.key)" }.sorted())
        guard coder.isReading else { return }
        for text in begun {
            let parts = text.split(separator: ":", maxSplits: 1)
            if parts.count == 2, let member = UInt32(parts[0]) { members[String(parts[1])] = member }
        }
    }
}
