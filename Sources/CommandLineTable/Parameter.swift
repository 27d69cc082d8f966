/// An argument or an option of a verb.
package struct Parameter: Sendable {
    package enum Kind: String, Sendable {
        case argument
        /// The words after `--`.
        case command
        case flag
        case option
    }

    /// The names of all arguments and options of the programs, as they are typed.
    package enum Name: String, Sendable {
        case activity, all, answer, app, available, background, check, command, controllers, count, debug, follow
        case format, from, help, helpers, host, id, ids, index, info, interval, json, last, level, lines, name, now
        case openmetrics, payload, pid, quiet, role, scene, setenv, signal, since, socket, source, svg
        case system, timeout, type, url, user, verb, version, wait
        case byRule = "by-rule"
        case configDirectory = "config-directory"
        case dryRun = "dry-run"
        case kind = "for"
        case logTarget = "log-target"
        case noWait = "no-wait"
        case runtimeDirectory = "runtime-directory"
        case stateDirectory = "state-directory"
    }

    package let name: Name
    package let kind: Kind
    /// The word for the value in the help.
    let placeholder: String
    let help: String
    var values = Values.text
    /// The letter of the short form.
    package var letter: String?
    var isRequired = false
    var isRepeating = false
    var isHidden = false
    /// The value if the option is not given, for the help.
    var initial: String?

    /// Creates an argument, which is given by its place.
    ///
    /// - Parameters:
    ///   - name: The name, which the help shows as the placeholder.
    ///   - help: The line in the help.
    ///   - values: The values that completions offer and the parser accepts.
    ///   - isRequired: A Boolean value that indicates whether a command line without the argument makes no sense.
    ///   - isRepeating: A Boolean value that indicates whether it takes all words that are left.
    /// - Returns: The parameter.
    package static func argument(
        _ name: Name, _ help: String, _ values: Values = .text, isRequired: Bool = true, isRepeating: Bool = false
    ) -> Parameter {
        Parameter(
            name: name, kind: .argument, placeholder: name.rawValue, help: help, values: values,
            isRequired: isRequired, isRepeating: isRepeating)
    }

    package static func command(_ help: String) -> Parameter {
        Parameter(
            name: .command, kind: .command, placeholder: "command", help: help, isRequired: true, isRepeating: true)
    }

    /// Creates an option without a value.
    ///
    /// - Parameters:
    ///   - name: The name, without hyphens.
    ///   - help: The line in the help.
    ///   - letter: The letter of the short form; nil for none.
    ///   - isHidden: A Boolean value that indicates whether the help leaves it out.
    /// - Returns: The parameter.
    package static func flag(
        _ name: Name, _ help: String, letter: String? = nil, isHidden: Bool = false
    ) -> Parameter {
        Parameter(name: name, kind: .flag, placeholder: "", help: help, letter: letter, isHidden: isHidden)
    }

    /// Creates an option with a value.
    ///
    /// - Parameters:
    ///   - name: The name, without hyphens.
    ///   - placeholder: The word for the value in the help.
    ///   - help: The line in the help.
    ///   - values: The values that completions offer and the parser accepts.
    ///   - letter: The letter of the short form; nil for none.
    ///   - isRequired: A Boolean value that indicates whether a command line without the option makes no sense.
    ///   - isRepeating: A Boolean value that indicates whether it may be given more than once.
    ///   - initial: The value if the option is not given, for the help; nil for none.
    /// - Returns: The parameter.
    package static func option(
        _ name: Name, _ placeholder: String, _ help: String, _ values: Values = .text, letter: String? = nil,
        isRequired: Bool = false, isRepeating: Bool = false, initial: String? = nil
    ) -> Parameter {
        Parameter(
            name: name, kind: .option, placeholder: placeholder, help: help, values: values, letter: letter,
            isRequired: isRequired, isRepeating: isRepeating, initial: initial)
    }

    /// The parser reads it before all other words; here for the help.
    package static let help = Parameter.flag(.help, "Show the help.", letter: "h")

    var isOption: Bool { kind == .flag || kind == .option }

    /// `<app>` of an argument, `--wait` of an option.
    var title: String { isOption ? "--\(name.rawValue)" : "<\(placeholder)>" }

    /// `<app>`, `--json`, `--wait <goal>`.
    package var form: String { kind == .option ? "\(title) <\(placeholder)>" : title }

    /// Returns whether an option has this name, with its hyphens.
    func isNamed(_ word: String) -> Bool { word == title || letter.map { word == "-\($0)" } ?? false }
}

/// The values that a parameter takes, and how a shell completes them.
package enum Values: Sendable {
    case text
    /// Names of files, in words.
    case files(String)
    case oneOf([String])
    /// Values that pass a test, in words.
    case checked(String, @Sendable (String) -> Bool)
    /// Values of which the program knows some, by the rest of the line.
    indirect case known(Values = .text, @Sendable (CommandLineParser) -> [String])

    package static func cases<Word: CaseIterable & RawRepresentable<String>>(of type: Word.Type) -> Values {
        .oneOf(type.allCases.map { $0.rawValue })
    }

    /// Returns the values in words; nil if this is one of them.
    func refusal(of value: String) -> String? {
        switch self {
        case .text: nil
        case .files(let words): value.isEmpty ? words : nil
        case .oneOf(let words): words.contains(value) ? nil : words.list("or")
        case .checked(let words, let isValid): isValid(value) ? nil : words
        case .known(let values, _): values.refusal(of: value)
        }
    }
}

extension [String] {
    /// Returns the words as a list: `a, b and c`.
    func list(_ conjunction: String) -> String {
        count < 2 ? first ?? "" : "\(dropLast().joined(separator: ", ")) \(conjunction) \(self[count - 1])"
    }
}
