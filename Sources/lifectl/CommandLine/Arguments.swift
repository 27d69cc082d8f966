/// The verb and the values of one command line.
struct Arguments: Sendable {
    /// The verb behind those that it belongs to.
    var path: [Verb] = [.lifectl]
    private var values: [(name: Parameter.Name, text: String)] = []

    var verb: Verb { path[path.count - 1] }

    /// The options that may be given: those of the verb, and those of every verb.
    var knownOptions: [Parameter] { verb.parameters.filter { $0.isOption } + Parameter.common }

    var isEmpty: Bool { values.isEmpty }

    mutating func add(_ text: String, for name: Parameter.Name) { values.append((name, text)) }

    /// The value of an argument or an option, the last one if there are several; empty for a flag.
    subscript(_ name: Parameter.Name) -> String? { values.last { $0.name == name }?.text }

    func all(_ name: Parameter.Name) -> [String] { values.filter { $0.name == name }.map { $0.text } }

    func has(_ name: Parameter.Name) -> Bool { values.contains { $0.name == name } }

    /// A flag as a parameter of a call: true or left out.
    func trueOrNil(_ name: Parameter.Name) -> Bool? { has(name) ? true : nil }

    /// The value of a required argument or option.
    func required(_ name: Parameter.Name) -> String { self[name] ?? "" }

    /// The value as one of the words of a type.
    func word<Word: RawRepresentable<String>>(_ name: Parameter.Name, of type: Word.Type) -> Word? {
        self[name].flatMap(Word.init)
    }

    func number(_ name: Parameter.Name) -> Int? { self[name].flatMap { Int($0) } }

    /// Returns the failure of a command line that makes no sense.
    func usage(_ message: String) -> Failure {
        let names = path.dropFirst().map { $0.name }
        let help = (names.isEmpty ? ["--help"] : ["help"] + names).joined(separator: " ")
        return Failure(status: .usage, message: "\(message) (see lifectl \(help))")
    }

    func unknown(_ kind: String, _ word: String, among known: [String]) -> Failure {
        let suggestion = Suggestion.nearest(to: word, among: known).map { "; did you mean '\($0)'?" } ?? ""
        return usage("unknown \(kind) '\(word)'\(suggestion)")
    }

    /// Goes on to a verb that may follow.
    mutating func enter(_ word: String) throws(Failure) {
        guard let next = verb.verbs.first(where: { $0.name == word }) else {
            throw unknown("command", word, among: verb.shownVerbs.map { $0.name })
        }
        path.append(next)
    }
}
