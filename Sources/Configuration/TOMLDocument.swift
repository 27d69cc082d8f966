import TOMLKit

/// A TOML text that was understood: its values, and the lines of its keys.
struct TOMLDocument {
    /// The whole text is a table.
    let root: [String: TOMLNode]

    private let locator: KeyLocator

    /// Reads a text, which is not trusted in any way.
    init(_ text: String) throws(TOMLDefect) {
        locator = try KeyLocator(Array(text.utf8))
        root = try Self.parse(text)
    }

    /// The line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        locator.line(of: path)
    }

    private static func parse(_ text: String) throws(TOMLDefect) -> [String: TOMLNode] {
        do {
            let table = try TOMLTable(string: text)
            // The library never frees what it parsed; an emptied table is all that then remains of it.
            defer { table.clear() }
            return nodes(of: table)
        } catch let error as TOMLParseError {
            throw TOMLDefect(line: error.source.begin.line, message: "not valid TOML: \(plain(error.description))")
        } catch {
            throw TOMLDefect(line: 1, message: "not valid TOML: \(error)")
        }
    }

    /// The library's iterator relies on keys without NUL, the lookup by key does not.
    private static func nodes(of table: TOMLTable) -> [String: TOMLNode] {
        var nodes: [String: TOMLNode] = [:]
        for key in table.keys {
            nodes[key] = table[key].map(node)
        }
        return nodes
    }

    /// Recursion is bounded, because the locator refuses deep nesting.
    private static func node(_ value: any TOMLValueConvertible) -> TOMLNode {
        switch value.type {
        case .string: .string(value.string ?? "")
        case .int: .integer(value.int ?? 0)
        case .double: .float(value.double ?? .nan)
        case .bool: .boolean(value.bool ?? false)
        case .date, .time, .dateTime: .moment
        case .array: .array(value.array.map { array in (0..<array.count).map { node(array[$0]) } } ?? [])
        case .table: .table(value.table.map(nodes) ?? [:])
        }
    }

    /// The library quotes the text in its messages; a message stays one line.
    private static func plain(_ message: String) -> String {
        String(
            String.UnicodeScalarView(
                message.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}
