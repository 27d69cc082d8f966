import OrderedCollections

/// The apps by id, and which of them somebody has laid hands on.
///
/// Each stays where it is when it changes: a dictionary would take it out and put it back for each fact that is noted.
public struct AppTable: Sendable {
    private var slots: [AppID: Int] = [:]
    private var apps: [App?] = []
    private var freeSlots: [Int] = []
    /// The apps that may have changed since ``takeTouched()``.
    private var touched: OrderedSet<AppID> = []

    init() {}

    /// The app of that name, if it is known.
    public internal(set) subscript(id: AppID) -> App? {
        get {
            guard let slot = slots[id] else { return nil }
            return apps[slot]
        }
        _modify {
            touched.append(id)
            if let slot = slots[id] {
                yield &apps[slot]
                if apps[slot] == nil { removeSlot(of: id, slot) }
            } else {
                var app: App?
                yield &app
                if let app { insert(app, as: id) }
            }
        }
    }

    /// The names, in no order.
    public var keys: some Collection<AppID> { slots.keys }

    /// The apps, in no order.
    public var values: some Collection<App> { slots.values.lazy.compactMap { apps[$0] } }

    /// How many there are.
    public var count: Int { slots.count }

    private mutating func insert(_ app: App, as id: AppID) {
        if let slot = freeSlots.popLast() {
            apps[slot] = app
            slots[id] = slot
        } else {
            slots[id] = apps.count
            apps.append(app)
        }
    }

    private mutating func removeSlot(of id: AppID, _ slot: Int) {
        slots[id] = nil
        freeSlots.append(slot)
    }

    mutating func takeTouched() -> OrderedSet<AppID> {
        defer { touched.removeAll(keepingCapacity: true) }
        return touched
    }
}
