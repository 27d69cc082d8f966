/// The positions of apps in another table by their ids: a hash table of numbers, which takes 8 bytes for each app. A dictionary takes
/// five times as much, because it has the ids once more.
public struct AppIDTable: Sendable {
    /// The positions, each at the place of its hash or behind it; -1 for none. At most two of three places are taken.
    private var places: [Int32] = []
    /// The number of apps.
    public private(set) var count = 0

    /// Creates a table without apps.
    public init() {}

    /// Returns the position of an app; nil if the table does not have it.
    ///
    /// - Parameters:
    ///   - id: The id of the app.
    ///   - isID: Returns whether the app at a position has the id.
    @inline(__always)
    public func position(of id: AppID, where isID: (Int) -> Bool) -> Int? {
        guard !places.isEmpty else { return nil }
        var place = id.hash & (places.count - 1)
        while places[place] >= 0 {
            if isID(Int(places[place])) { return Int(places[place]) }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    /// Adds an app that the table does not have.
    ///
    /// - Parameters:
    ///   - position: The position of the app.
    ///   - id: Returns the id of the app at a position.
    public mutating func insert(_ position: Int, id: (Int) -> AppID) {
        count += 1
        if 3 * count > 2 * places.count {
            let former = places.filter { $0 >= 0 }
            places = [Int32](repeating: -1, count: max(8, places.count * 2))
            for position in former { place(position, id(Int(position))) }
        }
        place(Int32(position), id(position))
    }

    private mutating func place(_ position: Int32, _ id: AppID) {
        var place = id.hash & (places.count - 1)
        while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
        places[place] = position
    }

    /// Removes an app that the table has.
    ///
    /// - Parameters:
    ///   - position: The position of the app.
    ///   - id: Returns the id of the app at a position.
    public mutating func remove(_ position: Int, id: (Int) -> AppID) {
        let mask = places.count - 1
        var gap = id(position).hash & mask
        while places[gap] != Int32(position) { gap = (gap + 1) & mask }
        count -= 1
        // The apps behind the gap move up, unless the gap is before the place of their hash.
        var place = gap
        while true {
            place = (place + 1) & mask
            guard places[place] >= 0 else { break }
            let wanted = id(Int(places[place])).hash & mask
            guard (place - wanted) & mask >= (place - gap) & mask else { continue }
            places[gap] = places[place]
            gap = place
        }
        places[gap] = -1
    }
}
