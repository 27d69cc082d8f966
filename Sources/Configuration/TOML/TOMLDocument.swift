import Synchronization
import TOMLKit

/// A TOML text that was understood: its values, and the lines of its keys.
struct TOMLDocument {
    /// The whole text is a table.
    let root: [String: TOMLNode]

    private let locator: KeyLocator

    /// Reads a text, which is not trusted in any way.
    init(_ text: String, reader: TOMLReader = TOMLReader()) throws(TOMLDefect) {
        locator = try KeyLocator(Array(text.utf8))
        root = try reader.read(text)
    }

    /// Returns the line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        locator.line(of: path)
    }
}

/// Has the TOML library read texts, each of them once.
///
/// The library never frees the result of a text. A daemon that reads its configuration again and again would grow each
/// time, so a result is kept as long as the text is read again, and only another text costs memory.
final class TOMLReader: Sendable {
    private struct Reading {
        let result: Result<[String: TOMLNode], TOMLDefect>
        /// A Boolean value that indicates whether the text was read since the unused ones were last removed.
        var isInUse = true
    }

    /// By their bytes: texts that are equal as strings can still name different files.
    private let readings = Mutex<[[UInt8]: Reading]>([:])

    /// The number of texts that are kept.
    var count: Int { readings.withLock { $0.count } }

    /// Returns the values of a text, or its defect.
    func read(_ text: String) throws(TOMLDefect) -> [String: TOMLNode] {
        let bytes = Array(text.utf8)
        let result = readings.withLock { readings in
            let reading = Reading(result: readings[bytes]?.result ?? Self.parse(text))
            readings[bytes] = reading
            return reading.result
        }
        return try result.get()
    }

    /// Forgets the texts that were not read since it was last called.
    func forgetUnread() {
        readings.withLock { readings in
            readings = readings.filter(\.value.isInUse)
            for bytes in readings.keys { readings[bytes]?.isInUse = false }
        }
    }

    private static func parse(_ text: String) -> Result<[String: TOMLNode], TOMLDefect> {
        do {
            let table = try TOMLTable(string: text)
            // An emptied table and copies of its keys and values are what remains of it.
            defer { table.clear() }
            return .success(nodes(of: table))
        } catch let error as TOMLParseError {
            let message = "not valid TOML: \(plain(error.description))"
            return .failure(TOMLDefect(line: error.source.begin.line, message: message))
        } catch {
            return .failure(TOMLDefect(line: 1, message: "not valid TOML: \(error)"))
        }
    }

    /// Returns the library's iterator relies on keys without NUL, the lookup by key does not.
    private static func nodes(of table: TOMLTable) -> [String: TOMLNode] {
        var nodes: [String: TOMLNode] = [:]
        for key in table.keys {
            nodes[key] = table[key].map(node)
        }
        return nodes
    }

    /// Converts a value. Recursion is bounded, because the locator refuses deep nesting.
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

    /// Returns the library quotes the text in its messages; a message stays one line.
    private static func plain(_ message: String) -> String {
        String(
            String.UnicodeScalarView(
                message.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

/// The reason why a text is not TOML, or is TOML of a shape that no configuration has.
struct TOMLDefect: Error, Equatable {
    /// The line concerned, counted from 1.
    let line: Int

    let message: String
}
