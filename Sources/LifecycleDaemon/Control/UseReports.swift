import LifecycleCore

/// What clients say of the use of apps: each for as long as it is connected.
struct UseReports {
    private var reports: [ObjectIdentifier: [Use: Set<AppID>]] = [:]

    /// The client says that these apps, and no others, are used in this way.
    mutating func set(_ use: Use, to ids: Set<AppID>, by connection: ControlConnection) {
        reports[ObjectIdentifier(connection), default: [:]][use] = ids
    }

    /// Forgets what a client has said.
    ///
    /// - Returns: The uses that it has said something of.
    mutating func remove(_ connection: ControlConnection) -> [Use] {
        reports.removeValue(forKey: ObjectIdentifier(connection)).map { Array($0.keys) } ?? []
    }

    /// The apps that anybody says are used in this way.
    func apps(_ use: Use) -> Set<AppID> {
        reports.values.reduce(into: []) { $0.formUnion($1[use] ?? []) }
    }
}
