import OrderedCollections

/// The apps by id, and which of them somebody has laid hands on.
struct AppTable: Sendable {
    private(set) var all: [AppID: App] = [:]
    /// The apps that may have changed since ``takeTouched()``.
    private var touched: OrderedSet<AppID> = []

    subscript(id: AppID) -> App? {
        get { all[id] }
        _modify {
            touched.append(id)
            yield &all[id]
        }
    }

    var keys: Dictionary<AppID, App>.Keys { all.keys }
    var values: Dictionary<AppID, App>.Values { all.values }

    mutating func takeTouched() -> OrderedSet<AppID> {
        defer { touched.removeAll(keepingCapacity: true) }
        return touched
    }
}
