import OrderedCollections

/// The apps by id, and which of them somebody has laid hands on.
///
/// Each stays where it is when it changes: a dictionary would take it out and put it back for each fact that is noted.
public struct AppTable: Sendable {
    private var places: [AppID: Int] = [:]
    private var apps: [App?] = []
    private var freePlaces: [Int] = []
    /// The apps that may have changed since ``takeTouched()``.
    private var touched: OrderedSet<AppID> = []

    init() {}

    /// The app of that name, if it is known.
    public internal(set) subscript(id: AppID) -> App? {
        get {
            guard let place = places[id] else { return nil }
            return apps[place]
        }
        _modify {
            touched.append(id)
            if let place = places[id] {
                yield &apps[place]
                if apps[place] == nil { removePlace(of: id, place) }
            } else {
                var app: App?
                yield &app
                if let app { insert(app, as: id) }
            }
        }
    }

    /// The names, in no order.
    public var keys: some Collection<AppID> { places.keys }

    /// The apps, in no order.
    public var values: some Collection<App> { places.values.lazy.compactMap { apps[$0] } }

    /// How many there are.
    public var count: Int { places.count }

    private mutating func insert(_ app: App, as id: AppID) {
        if let place = freePlaces.popLast() {
            apps[place] = app
            places[id] = place
        } else {
            places[id] = apps.count
            apps.append(app)
        }
    }

    private mutating func removePlace(of id: AppID, _ place: Int) {
        places[id] = nil
        freePlaces.append(place)
    }

    mutating func takeTouched() -> OrderedSet<AppID> {
        defer { touched.removeAll(keepingCapacity: true) }
        return touched
    }
}
