/// A verb of lifectl: what it takes, what its help says, and the function that performs it.
struct Verb: Sendable {
    let name: String
    /// One line, in the imperative.
    let summary: String
    var details = ""
    var example = ""
    var parameters: [Parameter] = []
    /// Options of which one at most is given.
    var excluding: [[Parameter.Name]] = []
    /// The verbs of which one follows.
    var groups: [VerbGroup] = []
    var run: @Sendable (Arguments) throws -> Void = { _ in }

    var verbs: [Verb] { groups.flatMap { $0.verbs } }

    /// The verbs that the help, the completions and the manual page show.
    var shownVerbs: [Verb] { groups.filter { !$0.title.isEmpty }.flatMap { $0.verbs } }
}

/// Verbs that stand under one heading; hidden ones if it is empty.
struct VerbGroup: Sendable {
    let title: String
    let verbs: [Verb]
}

/// An argument or an option of a verb.
struct Parameter: Sendable {
    enum Kind: String, Sendable {
        case argument
        /// The words behind `--`.
        case command
        case flag
        case option
    }

    let name: Name
    let kind: Kind
    /// The word for the value in the help.
    let placeholder: String
    let help: String
    var values = Values.text
    /// The letter of the short form.
    var letter: String?
    var isRequired = false
    var isRepeating = false
    /// The value if the option is not given, for the help.
    var initial: String?

    static func argument(
        _ name: Name, _ help: String, _ values: Values = .text, isRequired: Bool = true, isRepeating: Bool = false
    ) -> Parameter {
        Parameter(
            name: name, kind: .argument, placeholder: name.rawValue, help: help, values: values,
            isRequired: isRequired, isRepeating: isRepeating)
    }

    static func command(_ help: String) -> Parameter {
        Parameter(
            name: .command, kind: .command, placeholder: "command", help: help, isRequired: true, isRepeating: true)
    }

    static func flag(_ name: Name, _ help: String, letter: String? = nil) -> Parameter {
        Parameter(name: name, kind: .flag, placeholder: "", help: help, letter: letter)
    }

    static func option(
        _ name: Name, _ placeholder: String, _ help: String, _ values: Values = .text, letter: String? = nil,
        isRequired: Bool = false, isRepeating: Bool = false, initial: String? = nil
    ) -> Parameter {
        Parameter(
            name: name, kind: .option, placeholder: placeholder, help: help, values: values, letter: letter,
            isRequired: isRequired, isRepeating: isRepeating, initial: initial)
    }

    var isOption: Bool { kind == .flag || kind == .option }

    /// `<app>` of an argument, `--wait` of an option.
    var title: String { isOption ? "--\(name.rawValue)" : "<\(placeholder)>" }

    /// `<app>`, `--json`, `--wait <goal>`.
    var form: String { kind == .option ? "\(title) <\(placeholder)>" : title }

    /// Returns whether an option has this name, with its hyphens.
    func isNamed(_ word: String) -> Bool { word == title || letter.map { word == "-\($0)" } ?? false }
}

/// The values that a parameter takes, and how a shell completes them.
enum Values: Sendable {
    case text
    case files
    case processes
    case oneOf([String])
    /// Values that pass a test, in words.
    case checked(String, @Sendable (String) -> Bool)
    /// Names that the daemon knows.
    case listed(@Sendable (inout Session) throws -> [String])

    /// Returns the values in words; nil if this is one of them.
    func refusal(of value: String) -> String? {
        switch self {
        case .text, .files, .listed: nil
        case .processes: Int64(value).map { $0 > 0 } ?? false ? nil : "the number of a process, which is 1 or more"
        case .oneOf(let words): words.contains(value) ? nil : words.list("or")
        case .checked(let words, let isValid): isValid(value) ? nil : words
        }
    }
}

extension [String] {
    /// Returns the words as a list: `a, b and c`.
    func list(_ conjunction: String) -> String {
        count < 2 ? first ?? "" : "\(dropLast().joined(separator: ", ")) \(conjunction) \(self[count - 1])"
    }
}
