import FoundationEssentials
import Glibc

/// Small pieces of text.
enum Text {
    /// The text without what would command a terminal: commands and names come from others.
    static func printable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if commandsTerminal(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns whether a terminal may act on the scalar: controls, and marks that change the order of what is shown.
    static func commandsTerminal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Fills up to a width with spaces behind.
    static func trailing(_ text: String, width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Fills up to a width with spaces in front.
    static func leading(_ text: String, width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    static func withoutTrailingSpaces(_ text: String) -> String {
        String(text.dropLast(text.reversed().prefix { $0 == " " }.count))
    }

    /// Microseconds as milliseconds, as exact as it matters: `0.4 ms`, `12 ms`.
    static func milliseconds(_ microseconds: Int64) -> String {
        microseconds < 10_000
            ? "\(microseconds / 1000).\(microseconds % 1000 / 100) ms" : "\(microseconds / 1000) ms"
    }

    static func error(_ number: Int32) -> String {
        guard let text = unsafe strerror(number) else { return "error \(number)" }
        return unsafe String(cString: text)
    }

    /// A user by number: lifectl is linked statically, and does without the databases of users.
    static func user(_ number: UInt32?) -> String { number.map { "user \($0)" } ?? "an unknown user" }

    /// Seconds without needless zeros: `60 s`, `0.5 s`.
    static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = attoseconds / 1_000_000_000_000_000
        return milliseconds == 0 ? "\(seconds) s" : "\(Double(seconds) + Double(milliseconds) / 1000) s"
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
            default: nil
            }
        }
    }

    /// Returns a JSON document with escape sequences for the scalars that command a terminal.
    ///
    /// - Parameter document: A document without line breaks and indentation. Such scalars are in its strings only.
    static func json(_ document: String) -> String {
        replaced(document) { scalar in
            guard Text.commandsTerminal(scalar) else { return nil }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }.joined()
        }
    }

    private static func replaced(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let replacement = replacement(scalar) {
                result.append(contentsOf: replacement.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

/// A reply as one line of JSON, its keys in order so that scripts and diffs see the same every time.
enum JSON {
    /// Whether a text is JSON.
    static func isText(_ text: String) -> Bool {
        (try? JSONDecoder().decode(Anything.self, from: Data(text.utf8))) != nil
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    static func line(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Escaping.json(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }
}
