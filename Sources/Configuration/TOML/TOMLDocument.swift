/// A TOML text that was understood: its values, and the lines of its keys.
package struct TOMLDocument {
    /// The whole text is a table.
    let root: [String: TOMLNode]

    private let lines: [[String]: Int]

    /// Reads a text, which is not trusted in any way.
    ///
    /// - Throws: The first place that is not TOML 1.0.0, or that no configuration has.
    package init(_ text: String) throws(Defect) {
        var parser = TOMLParser(Array(text.utf8))
        root = try parser.parse()
        lines = parser.lines
    }

    /// Returns the line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        var path = path
        while !path.isEmpty {
            if let line = lines[path] { return line }
            path.removeLast()
        }
        return nil
    }

    /// Returns the name of an array's element in a path, counted from 1.
    static func element(_ number: Int) -> String { "[\(number)]" }
}

/// A value of a TOML text, as a value of Swift.
package enum TOMLNode: Equatable, Sendable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)

    /// A date, a time, or both; none of our keys takes one.
    case moment
    case array([TOMLNode])
    case table([String: TOMLNode])

    /// The value in a user's words.
    var summary: String {
        switch self {
        case .string(let text): text.quoted
        case .integer(let number): "the integer \(number)"
        case .float(let number): "the number \(number)"
        case .boolean(let value): "\(value)"
        case .moment: "a date or a time"
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
        case .table: "a table"
        }
    }
}

extension String {
    /// The text in quotation marks, shortened, with nothing in it that could drive a terminal.
    var quoted: String {
        let longest = 60
        var text = ""
        for scalar in unicodeScalars.prefix(longest) {
            let isControl =
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
            if isControl || scalar == "\"" || scalar == "\\" {
                text += scalar.escaped(asASCII: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > longest ? "\"\(text)…\"" : "\"\(text)\""
    }
}

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
        case tables([TOMLTable])
    }

    private var origin: Origin
    private var entries: [String: Entry] = [:]

    init(_ origin: Origin) { self.origin = origin }

    /// The values of the table.
    var nodes: [String: TOMLNode] {
        entries.mapValues { entry in
            switch entry {
            case .value(let node): node
            case .table(let table): .table(table.nodes)
            case .tables(let elements): .array(elements.map { .table($0.nodes) })
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
                path.append(TOMLDocument.element(found.count))
                table = found[found.count - 1]
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
            entries[name] = .tables([element])
            return (element, 1)
        case .tables:
            // Only outside of the dictionary, the array grows without a copy.
            guard case .tables(var elements)? = entries.removeValue(forKey: name) else { throw .definedTwice(name) }
            elements.append(element)
            entries[name] = .tables(elements)
            return (element, elements.count)
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
