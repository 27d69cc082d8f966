/// The help texts, in 80 columns.
package enum Help {
    private static let width = 80
    /// The column of the explanations, at most.
    private static let lastColumn = 24

    /// Returns the help for the last verb of a path.
    package static func text(of path: [Verb]) -> String {
        let verb = path[path.count - 1]
        let names = path.map { $0.name }.joined(separator: " ")
        // The options of a program are common to its verbs, if it has any.
        let own = path.count > 1 || verb.isLast ? verb.shownParameters : []
        let common = path.count > 1 || !verb.isLast ? path[0].shownParameters : []
        let sections =
            [usage(names, own, hasVerbs: !verb.isLast, hasOptions: !common.isEmpty), wrapped(verb.summary)]
            + verb.shownGroups.map { group in section(group.title, group.verbs().map { ($0.name, $0.summary) }) }
            + verb.details.split(separator: "\n").map { $0.hasPrefix(" ") ? "\($0)\n" : wrapped(String($0)) }
            + [
                section("Arguments", own.filter { !$0.isOption }.map(entry)),
                section("Options", own.filter { $0.isOption }.map(entry)),
                section("Common options", common.map(entry)),
                verb.isLast ? statuses(of: verb) : "",
                "Example:\n  \(verb.example)\n",
            ]
        return sections.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// Returns the forms of a command line: with the words of the verb, and with a verb that follows.
    private static func usage(_ names: String, _ own: [Parameter], hasVerbs: Bool, hasOptions: Bool) -> String {
        let words = own.map { parameter in
            let form = (parameter.kind == .command ? "-- " : "") + parameter.form
            return (parameter.isRequired ? form : "[\(form)]") + (parameter.isRepeating ? "..." : "")
        }
        let form = ([names] + (hasOptions ? ["[OPTION...]"] : []) + words).joined(separator: " ")
        let forms = (hasVerbs && own.isEmpty ? [] : [form]) + (hasVerbs ? ["\(names) COMMAND [ARGUMENT...]"] : [])
        return "Usage: " + forms.map { wrapped($0, indent: 11) }.joined(separator: spaces(7))
    }

    /// Returns the table of a program's exit statuses.
    static func statuses(of program: Verb) -> String {
        section("Exit status", program.statuses().map { ("\($0.code < 10 ? " " : "")\($0.code)", $0.meaning) })
    }

    private static func entry(_ parameter: Parameter) -> (String, String) {
        var text = parameter.help
        if case .oneOf(let words) = parameter.values { text += " (values: \(words.joined(separator: ", ")))" }
        if let initial = parameter.initial { text += " (default: \(initial))" }
        return (parameter.letter.map { "-\($0), \(parameter.form)" } ?? parameter.form, text)
    }

    private static func section(_ title: String, _ entries: [(label: String, text: String)]) -> String {
        guard !title.isEmpty, !entries.isEmpty else { return "" }
        let column = min(lastColumn, 4 + (entries.map { $0.label.count }.max() ?? 0))
        let lines = entries.map { label, text in
            let end = label.count < column - 2 ? "" : "\n" + spaces(column)
            return "  \(label)\(spaces(column - 2 - label.count))\(end)\(wrapped(text, indent: column))"
        }
        return "\(title):\n\(lines.joined())"
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

    /// Returns a text in lines, each with its line break. Every line but the first is indented.
    private static func wrapped(_ text: String, indent: Int = 0) -> String {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let line = lines.last, indent + line.utf8.count + 1 + word.utf8.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n" + spaces(indent)) + "\n"
    }
}

/// The table of a program as fields between tabs, for scripts/manual.
package enum TableDocument {
    /// Returns a line for each exit status, and the lines of the program.
    package static func text(of program: Verb) -> String {
        program.statuses().map { line(["status", String($0.code), $0.meaning]) }.joined()
            + text(of: program, path: program.name)
    }

    /// Returns a line for the verb, one for each of its parameters, and those of the verbs that may follow.
    private static func text(of verb: Verb, path: String, in group: String = "") -> String {
        let details = verb.details.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
        return line(["verb", path, group, verb.summary, details, verb.example])
            + verb.shownParameters.map { line(fields(of: $0)) }.joined()
            + verb.shownGroups.flatMap { group in
                group.verbs().map { text(of: $0, path: "\(path) \($0.name)", in: group.title) }
            }.joined()
    }

    private static func fields(of parameter: Parameter) -> [String] {
        var words: [String] = []
        if case .oneOf(let known) = parameter.values { words = known }
        return [
            parameter.kind.rawValue, parameter.name.rawValue, parameter.letter ?? "", parameter.placeholder,
            parameter.help, words.joined(separator: " "), parameter.initial ?? "",
            parameter.isRequired ? "required" : "", parameter.isRepeating ? "repeating" : "",
        ]
    }

    private static func line(_ fields: [String]) -> String { fields.joined(separator: "\t") + "\n" }
}
