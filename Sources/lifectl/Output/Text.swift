import Glibc
import Varlink

/// Pieces of text.
enum Text {
    /// Returns whether a text has another one in it. The library's function links a parser of regular expressions, 1 MB.
    static func includes(_ text: String, _ part: String) -> Bool {
        let (text, part) = (Array(text.utf8), Array(part.utf8))
        return text.indices.contains { text[$0...].starts(with: part) }
    }

    /// Returns the text without the scalars that a terminal may act on.
    static func printable(_ text: String) -> String {
        Escaping.replaced(text) { scalar in
            commandsTerminal(scalar) ? "\\u{\(String(scalar.value, radix: 16))}" : nil
        }
    }

    /// Returns the lines of a text, tabs included, without the other scalars that a terminal may act on.
    static func printableLines(_ text: String) -> String {
        Escaping.replaced(text) { scalar in
            scalar == "\n" || scalar == "\t" || !commandsTerminal(scalar) ? nil : printable(String(scalar))
        }
    }

    /// Returns whether a terminal may act on the scalar: controls, and marks that change the order of the text.
    static func commandsTerminal(_ scalar: Unicode.Scalar) -> Bool {
        // Nearly all of the output, for which no table is searched.
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7f }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Returns the text, filled up at its end with spaces.
    static func trailing(_ text: String, width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Returns the text, filled up at its start.
    static func leading(_ text: String, width: Int, with fill: Character = " ") -> String {
        String(repeating: fill, count: max(0, width - text.count)) + text
    }

    static func withoutTrailingSpaces(_ text: String) -> String {
        String(text.dropLast(text.reversed().prefix { $0 == " " }.count))
    }

    /// Returns microseconds as milliseconds: `0.4 ms`, `12 ms`.
    static func milliseconds(_ microseconds: Int64) -> String {
        microseconds < 10_000
            ? "\(microseconds / 1000).\(microseconds % 1000 / 100) ms" : "\(microseconds / 1000) ms"
    }

    /// Returns an amount of memory in the largest unit that leaves a whole number above zero.
    static func size(_ bytes: Int64) -> String {
        switch bytes {
        case ..<(1 << 10): "\(bytes) bytes"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        default: "\(bytes >> 20) MiB"
        }
    }

    /// Returns the text of an errno.
    static func error(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    /// Returns a user by number: lifectl is linked statically, and cannot read the databases of users.
    static func user(_ number: UInt32?) -> String { number.map { "user \($0)" } ?? "an unknown user" }

    /// Returns seconds: `60 s`, `0.5 s`.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        guard milliseconds != 0 else { return "\(seconds) s" }
        var digits = leading(String(milliseconds), width: 3, with: "0")[...]
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(seconds).\(digits) s"
    }
}

/// The escapings of the formats that lifectl writes.
///
/// Each compares Unicode scalars. A `Character` may join a delimiter with a combining mark, and is then unequal to the
/// delimiter, although the reader of the format sees the delimiter's byte.
enum Escaping {
    /// Returns the word in quotation marks for sh(1).
    static func shell(_ word: String) -> String {
        "'" + replaced(word) { $0 == "'" ? "'\\''" : nil } + "'"
    }

    /// Returns the path of a file URL, with escapes for the bytes that RFC 3986 does not allow in a path segment.
    ///
    /// - Parameter path: The bytes of the path, which may not be UTF-8.
    static func path(_ path: some Sequence<UInt8>) -> String {
        let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8
        return path.map { byte in
            unreserved.contains(byte)
                ? String(Unicode.Scalar(byte))
                : "%" + Text.leading(String(byte, radix: 16, uppercase: true), width: 2, with: "0")
        }.joined()
    }

    /// Returns the text for the content of an XML element or attribute, printable.
    static func xml(_ text: String) -> String {
        replaced(Text.printable(text)) { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            // The production Char of XML 1.0 has neither.
            case "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
            default: nil
            }
        }
    }

    /// Returns the text for a label or a description of OpenMetrics 1.0.
    static func openMetrics(_ text: String) -> String {
        replaced(text) { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            // A backslash in an escape sequence of its own.
            default: Text.commandsTerminal(scalar) ? "\\" + Text.printable(String(scalar)) : nil
            }
        }
    }

    /// Returns a JSON document with escape sequences for the scalars that command a terminal.
    ///
    /// - Parameter document: A document without line breaks and indentation. Such scalars are in its strings only.
    static func json(_ document: String) -> String {
        replaced(document) { scalar in
            guard Text.commandsTerminal(scalar) else { return nil }
            return String(scalar).utf16.map { "\\u" + Text.leading(String($0, radix: 16), width: 4, with: "0") }
                .joined()
        }
    }

    fileprivate static func replaced(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
        text.unicodeScalars.map { replacement($0) ?? String($0) }.joined()
    }
}

/// JSON of one line.
enum JSON {
    static func line(_ value: some JSONWritable) -> String {
        Escaping.json(String(decoding: value.json.bytes, as: UTF8.self)) + "\n"
    }

    /// Returns the value of a JSON text; nil if the text has another form.
    static func decode<Value: JSONReadable>(_ type: Value.Type, from text: [UInt8]) -> Value? {
        try? Value(json: JSONValue(parsing: text[...]))
    }

    static func isText(_ text: String) -> Bool { (try? JSONValue(parsing: text)) != nil }
}

/// Rows of cells in aligned columns, without borders.
struct Table {
    /// The heading of a column, and the alignment of its cells.
    struct Column: ExpressibleByStringLiteral {
        let heading: String
        let isTrailing: Bool

        init(stringLiteral heading: String) { (self.heading, isTrailing) = (heading, false) }

        private init(trailing heading: String) { (self.heading, isTrailing) = (heading, true) }

        static func trailing(_ heading: String) -> Column { Column(trailing: heading) }
    }

    /// The text of a cell, and the colours of the text after it was filled up to the width of its column.
    struct Cell {
        let text: String
        let paint: (String) -> String

        static func text(_ text: String, paint: @escaping (String) -> String = { $0 }) -> Cell {
            Cell(text: Text.printable(text), paint: paint)
        }
    }

    private let columns: [Column]
    private var rows: [[Cell]]

    init(_ columns: [Column], style: Style) {
        self.columns = columns
        rows = [columns.map { .text($0.heading, paint: style.heading) }]
    }

    mutating func add(_ row: Cell...) { rows.append(row) }

    mutating func add(_ row: [Cell]) { rows.append(row) }

    /// The lines of the table, each with its line break.
    var text: String {
        let widths = columns.indices.map { column in rows.map { $0[column].text.count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.map { column in
                let (cell, width) = (row[column], widths[column])
                if columns[column].isTrailing { return cell.paint(Text.leading(cell.text, width: width)) }
                // The last column is not filled up, so that no line ends with spaces.
                return cell.paint(column == row.count - 1 ? cell.text : Text.trailing(cell.text, width: width))
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }
}
