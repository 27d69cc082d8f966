import LifecycleTypes

/// A command line that makes no sense.
package struct UsageError: Error {
    /// The mistake in the command line, as a clause.
    package let cause: String
    /// The remedy, as a clause.
    package let remedy: String

    /// Creates the error.
    ///
    /// - Parameters:
    ///   - cause: The cause: a clause.
    ///   - remedy: The remedy: a clause.
    package init(_ cause: String, remedy: String) { (self.cause, self.remedy) = (cause, remedy) }

    package var message: String { "\(cause); \(remedy)" }
}

/// The verb and the values of one command line.
package struct Arguments: Sendable {
    /// The program, and the verbs up to the last one.
    package internal(set) var path: [Verb]
    private var values: [(name: Parameter.Name, text: String)] = []

    init(of program: Verb) { path = [program] }

    var program: Verb { path[0] }
    package var verb: Verb { path[path.count - 1] }

    /// The options that may be given: those of the verb, and those of the program.
    var knownOptions: [Parameter] { path.reversed().flatMap { $0.parameters().filter { $0.isOption } } }

    var isEmpty: Bool { values.isEmpty }

    mutating func add(_ text: String, for name: Parameter.Name) { values.append((name, text)) }

    /// The value of an argument or an option, the last one if there are several; empty for a flag.
    package subscript(_ name: Parameter.Name) -> String? { values.last { $0.name == name }?.text }

    package func all(_ name: Parameter.Name) -> [String] { values.filter { $0.name == name }.map { $0.text } }

    package func has(_ name: Parameter.Name) -> Bool { values.contains { $0.name == name } }

    /// Returns a flag as a parameter of a call: true or left out.
    package func trueOrNil(_ name: Parameter.Name) -> Bool? { has(name) ? true : nil }

    /// Returns the value of a required argument or option.
    package func required(_ name: Parameter.Name) -> String { self[name] ?? "" }

    /// Returns the value as one of the words of a type.
    ///
    /// - Parameters:
    ///   - name: The name of an argument or an option.
    ///   - type: The type, whose raw values are the words.
    /// - Returns: The value; nil if it is not given, or none of the words.
    package func word<Word: RawRepresentable<String>>(_ name: Parameter.Name, of type: Word.Type) -> Word? {
        self[name].flatMap(Word.init)
    }

    package func number(_ name: Parameter.Name) -> Int? { self[name].flatMap { Int($0) } }

    /// Performs the verb.
    ///
    /// - Returns: The text of a verb that only prints one; empty for any other.
    /// - Throws: ``UsageError`` if the verb finds that the command line makes no sense.
    package func perform() throws(UsageError) -> String { try verb.action(self) }

    package func usage(_ message: String) -> UsageError {
        let names = path.dropFirst().map { $0.name }
        let help = (names.isEmpty ? ["--help"] : ["help"] + names).joined(separator: " ")
        return UsageError(message, remedy: "see '\(program.name) \(help)'")
    }

    func unknown(_ kind: String, _ word: String, among known: [String]) -> UsageError {
        let whole = known.first { !word.isEmpty && $0.hasPrefix(word) }
        let likely = whole ?? Spelling.nearest(to: word, among: known) { Array($0.utf8) }
        return usage("unknown \(kind) '\(word)'" + (likely.map { " (did you mean '\($0)'?)" } ?? ""))
    }

    /// Goes on to a verb that may follow.
    mutating func enter(_ word: String) throws(UsageError) {
        guard let next = verb.verb(named: word) else {
            throw unknown("command", word, among: verb.shownVerbs.map { $0.name })
        }
        path.append(next)
    }
}
