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
