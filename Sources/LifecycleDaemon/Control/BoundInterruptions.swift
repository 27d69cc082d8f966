import LifecycleCore

/// The interruptions that end with the connections of their clients: all of these have begun them with `whileConnected`.
///
/// They are saved before they begin, and until their ends are: a successor has none of the connections, and ends them all.
struct BoundInterruptions {
    /// The connections by the names of the interruptions; none for an interruption that is about to end.
    private var connections: [String: Set<ObjectIdentifier>] = [:]

    var isEmpty: Bool { connections.isEmpty }
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

    /// Removes the interruptions that have ended.
    mutating func removeAll(except names: some Collection<String>) {
        connections = connections.filter { names.contains($0.key) }
    }
}

extension BoundInterruptions: SavedTable {
    mutating func code(with coder: inout some SavedCoder) {
        let names = coder.list("interruption", names)
        if coder.isReading { for name in names { connections[name] = [] } }
    }
}
