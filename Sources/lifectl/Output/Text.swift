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
