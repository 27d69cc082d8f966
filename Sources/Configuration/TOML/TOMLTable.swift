/// A table that is being read. A table can be written in parts, and the rules of TOML say in which.
final class TOMLTable {
    /// The way in which a table has come into being.
    enum Origin {
        /// As a part of a header's path. A header of its own may follow.
        case path
        /// By a header, or in braces.
        case header
        /// By a dotted key. No header may follow.
        case dottedKey
    }

    private enum Entry {
        case value(TOMLNode)
        case table(TOMLTable)
        case tables(Elements)
    }

    /// The elements of an array of tables. An array in the dictionary would be copied for each more.
    private final class Elements {
        var tables: [TOMLTable]

        init(_ tables: [TOMLTable]) { self.tables = tables }
    }

    private var origin: Origin
    private var entries: [String: Entry]

    /// - Parameter capacity: The number of keys for which there is room.
    init(_ origin: Origin, capacity: Int = 0) {
        self.origin = origin
        entries = Dictionary(minimumCapacity: capacity)
    }

    /// The values of the table.
    var nodes: [String: TOMLNode] {
        entries.mapValues { entry in
            switch entry {
            case .value(let node): node
            case .table(let table): .table(table.nodes)
            case .tables(let elements): .array(elements.tables.map { .table($0.nodes) })
            }
        }
    }

    /// Defines the table of a header.
    ///
    /// - Parameters:
    ///   - key: The key in the header.
    ///   - isElement: Whether the header adds an element to an array of tables.
    /// - Returns: The table, and its path with the numbers of elements.
    func define(_ key: [String], isElement: Bool) throws(Defect) -> (TOMLTable, path: [String]) {
        var table = self
        var path: [String] = []
        for part in key.dropLast() {
            path.append(part)
            switch table.entries[part] {
            case nil: table = table.add(part, TOMLTable(.path))
            case .table(let found): table = found
            case .tables(let found):
                path.append(TOMLDocument.element(found.tables.count))
                table = found.tables[found.tables.count - 1]
            case .value: throw .definedTwice(part)
            }
        }
        guard let last = key.last else { return (table, path) }
        path.append(last)
        if !isElement { return (try table.defineTable(last), path) }
        let (element, number) = try table.appendElement(to: last)
        return (element, path + [TOMLDocument.element(number)])
    }

    private func defineTable(_ name: String) throws(Defect) -> TOMLTable {
        switch entries[name] {
        case nil: return add(name, TOMLTable(.header))
        case .table(let table) where table.origin == .path:
            table.origin = .header
            return table
        case .table, .tables, .value: throw .definedTwice(name)
        }
    }

    private func appendElement(to name: String) throws(Defect) -> (TOMLTable, number: Int) {
        let element = TOMLTable(.header)
        switch entries[name] {
        case nil:
            entries[name] = .tables(Elements([element]))
            return (element, 1)
        case .tables(let elements):
            elements.tables.append(element)
            return (element, elements.tables.count)
        case .table, .value: throw .definedTwice(name)
        }
    }

    /// Sets the value of a key, which may be dotted.
    func set(_ key: [String], to value: TOMLNode) throws(Defect) {
        var table = self
        for part in key.dropLast() {
            switch table.entries[part] {
            case nil: table = table.add(part, TOMLTable(.dottedKey))
            case .table(let found) where found.origin == .dottedKey: table = found
            case .table, .tables, .value: throw .definedTwice(part)
            }
        }
        guard let last = key.last else { return }
        guard table.entries[last] == nil else { throw .definedTwice(last) }
        table.entries[last] = .value(value)
    }

    private func add(_ name: String, _ table: TOMLTable) -> TOMLTable {
        entries[name] = .table(table)
        return table
    }
}
