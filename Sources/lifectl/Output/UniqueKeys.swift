extension Dictionary {
    // The library's own initializer for this casts errors, which Embedded Swift cannot.

    /// Creates a dictionary from pairs. Of several pairs with the same key, the first counts.
    init(firstOf pairs: some Sequence<(Key, Value)>) {
        self.init()
        for (key, value) in pairs where self[key] == nil { self[key] = value }
    }

    /// Creates a dictionary from pairs. Of several pairs with the same key, the last counts.
    init(lastOf pairs: some Sequence<(Key, Value)>) {
        self.init()
        for (key, value) in pairs { self[key] = value }
    }
}
