/// The help texts, in 80 columns.
enum Help {
    private static let width = 80
    /// The column of the explanations.
    private static let column = 24

    /// Returns the help for the last verb of a path.
    static func text(of path: [Verb]) -> String {
        let verb = path[path.count - 1]
        let names = path.map { $0.name }.joined(separator: " ")
        let words = verb.parameters.map { parameter in
            let form = (parameter.kind == .command ? "-- " : "") + parameter.form
            return (parameter.isRequired ? form : "[\(form)]") + (parameter.isRepeating ? "..." : "")
        }
        let usage = [names] + words + [verb.groups.isEmpty ? "[OPTION...]" : "COMMAND [ARGUMENT...]"]
        let sections =
            ["Usage: \(wrapped(usage.joined(separator: " "), indent: 11))", wrapped(verb.summary)]
            + verb.groups.map { group in section(group.title, group.verbs.map { ($0.name, $0.summary) }) }
            + verb.details.split(separator: "\n").map { $0.hasPrefix(" ") ? "\($0)\n" : wrapped(String($0)) }
            + [
                section("Arguments", verb.parameters.filter { !$0.isOption }.map(entry)),
                section("Options", verb.parameters.filter { $0.isOption }.map(entry)),
                section("Common options", Parameter.common.map(entry)),
                path.count > 1 ? "" : "Exit status:\n\(Outcome.table)\n",
                "Example:\n  \(verb.example)\n",
            ]
        return sections.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static func entry(_ parameter: Parameter) -> (String, String) {
        var text = parameter.help
        if case .oneOf(let words) = parameter.values { text += " (values: \(words.joined(separator: ", ")))" }
        if let initial = parameter.initial { text += " (default: \(initial))" }
        return (parameter.letter.map { "-\($0), \(parameter.form)" } ?? parameter.form, text)
    }

    private static func section(_ title: String, _ entries: [(label: String, text: String)]) -> String {
        guard !title.isEmpty, !entries.isEmpty else { return "" }
        let lines = entries.map { label, text in
            let start = "  \(Text.trailing(label, width: column - 3)) "
            let end = label.count < column - 2 ? "" : "\n" + String(repeating: " ", count: column)
            return start + end + wrapped(text, indent: column)
        }
        return "\(title):\n\(lines.joined())"
    }

    /// Returns a text in lines, each with its line break. Every line but the first is indented.
    private static func wrapped(_ text: String, indent: Int = 0) -> String {
        var result = ""
        var used = indent
        for word in text.utf8.split(separator: UInt8(ascii: " ")) {
            let isFirst = result.isEmpty
            if !isFirst, used + 1 + word.count > width {
                result += "\n" + String(repeating: " ", count: indent)
                used = indent
            } else if !isFirst {
                result += " "
                used += 1
            }
            result += String(decoding: word, as: UTF8.self)
            used += word.count
        }
        return result + "\n"
    }
}
