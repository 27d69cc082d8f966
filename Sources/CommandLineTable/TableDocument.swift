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
