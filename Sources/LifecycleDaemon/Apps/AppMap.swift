import LifecycleCore

/// A table of values of apps by their indexes, for a subject of which most apps have a value.
///
/// The table is dense: an app without a value takes the room of one. The position of a forgotten app may belong to a later app by
/// now: an index of a generation before finds nothing, and changes nothing.
struct AppMap<Value> {
    fileprivate struct Entry {
        var generation: UInt32
        var value: Value
    }

    private var entries: [Entry?] = []
    /// The number of values.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    /// The value of an app; nil if it has none.
    subscript(app: AppIndex) -> Value? {
        get {
            guard app.value < entries.count, let entry = entries[app.value], entry.generation == app.generation else {
                return nil
            }
            return entry.value
        }
        set { _ = replace(app, newValue) }
    }

    /// The value of an app; nil if it has none, or if there is no app.
    subscript(app: AppIndex?) -> Value? {
        guard let app else { return nil }
        return self[app]
    }

    /// Changes the value of an app, if it has one.
    mutating func update(_ app: AppIndex, _ change: (inout Value) -> Void) {
        guard app.value < entries.count, var entry = entries[app.value], entry.generation == app.generation else {
            return
        }
        change(&entry.value)
        entries[app.value] = entry
    }

    /// Removes the value of an app, and returns it.
    @discardableResult
    mutating func removeValue(of app: AppIndex) -> Value? { replace(app, nil) }

    /// Sets the value of an app.
    ///
    /// - Returns: The value before.
    private mutating func replace(_ app: AppIndex, _ value: Value?) -> Value? {
        guard app.value < entries.count else {
            if let value { append(value, at: app) }
            return nil
        }
        let before = entries[app.value]
        // The position belongs to a later app.
        if let before, Self.isLater(before.generation, than: app.generation) { return nil }
        entries[app.value] = value.map { Entry(generation: app.generation, value: $0) }
        count += (value == nil ? 0 : 1) - (before == nil ? 0 : 1)
        return before?.generation == app.generation ? before?.value : nil
    }

    private mutating func append(_ value: Value, at app: AppIndex) {
        // An array alone grows to twice its size.
        if entries.capacity <= app.value { entries.reserveCapacity(app.value + 1 + app.value / 4) }
        while entries.count < app.value { entries.append(nil) }
        entries.append(Entry(generation: app.generation, value: value))
        count += 1
    }

    /// Compares generations, which begin again after the last one.
    private static func isLater(_ left: UInt32, than right: UInt32) -> Bool {
        Int32(bitPattern: left &- right) > 0
    }
}

extension AppMap: Sequence {
    /// An iterator over the apps with a value, in the order of their indexes. A type of its own: the lazy ones of the library are
    /// put together at run time, which takes thousands of instructions each time.
    struct Iterator: IteratorProtocol {
        fileprivate let entries: [Entry?]
        fileprivate var position = 0

        mutating func next() -> (key: AppIndex, value: Value)? {
            while position < entries.count {
                defer { position += 1 }
                if let entry = entries[position] {
                    return (AppIndex(value: position, generation: entry.generation), entry.value)
                }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(entries: entries) }

    /// The values, in the order of the indexes.
    var values: [Value] { entries.compactMap { $0?.value } }

    /// The apps that have a value, in the order of their indexes.
    var keys: [AppIndex] { map(\.key) }
}

/// A set of apps by their indexes, for a subject that concerns most apps. Like an ``AppMap``, it does not take a later app for an
/// earlier one.
struct AppSet {
    private var map = AppMap<Void>()

    /// The apps, in the order of their indexes.
    var apps: [AppIndex] { map.keys }
    var isEmpty: Bool { map.isEmpty }
    func contains(_ app: AppIndex) -> Bool { map[app] != nil }

    /// - Returns: Whether the app was not in the set.
    @discardableResult
    mutating func insert(_ app: AppIndex) -> Bool {
        guard map[app] == nil else { return false }
        map[app] = ()
        return true
    }

    /// - Returns: Whether the app was in the set.
    @discardableResult
    mutating func remove(_ app: AppIndex) -> Bool { map.removeValue(of: app) != nil }
}

extension AppMap {
    /// The bytes that an app takes.
    static var entrySize: Int { MemoryLayout<Entry?>.stride }
}
