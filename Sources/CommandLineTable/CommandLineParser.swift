/// Reads the words of a command line, one after the other, by the table of a program.
///
/// Options may stand anywhere before `--`. A value is the next word, unless that begins with a hyphen, or follows `=`.
package struct CommandLineParser {
    package private(set) var arguments: Arguments
    /// The option whose value is the next word.
    package private(set) var pending: Parameter?
    private(set) var operands: [String] = []
    /// The words after `--`; nil before it.
    private(set) var trailing: [String]?

    init(of program: Verb) { arguments = Arguments(of: program) }

    /// Reads a command line.
    ///
    /// - Parameters:
    ///   - words: The words after the name of the program.
    ///   - program: The table of the program.
    /// - Returns: The verb and its values; those of `help` if `--help` or `-h` is among the words.
    /// - Throws: ``UsageError`` at the first word that does not fit, or if one is missing.
    package static func parse(_ words: [String], of program: Verb) throws(UsageError) -> Arguments {
        var parser = CommandLineParser(of: program)
        for word in words {
            if word == "--help" || word == "-h", parser.trailing == nil { return parser.help }
            try parser.handle(word)
        }
        return try parser.finish()
    }

    mutating func handle(_ word: String) throws(UsageError) {
        if trailing != nil {
            trailing?.append(word)
        } else if let option = pending {
            pending = nil
            guard !word.isOption else { throw missingValue(of: option, before: word) }
            try add(word, for: option)
        } else if word == "--" {
            trailing = []
        } else if let verb = arguments.verb.verb(named: word) {
            arguments.path.append(verb)
        } else if word.isOption {
            try handleOption(word)
        } else if arguments.verb.isLast {
            operands.append(word)
        } else {
            try arguments.enter(word)
        }
    }

    private mutating func handleOption(_ word: String) throws(UsageError) {
        let (name, value) = word.parts
        guard let option = arguments.knownOptions.first(where: { $0.isNamed(name) }) else {
            if let (option, rest) = optionOfLetter(word) { return try handleLetters(option, rest) }
            throw arguments.unknown(
                "option", name, among: arguments.knownOptions.filter { !$0.isHidden }.map { $0.title })
        }
        switch (option.kind, value) {
        case (.flag, nil): arguments.add("", for: option.name)
        case (.flag, let value?):
            throw arguments.usage("the option '\(name)' does not take any value, but '\(value)' was specified")
        case (_, nil): pending = option
        case (_, ""): throw missingValue(of: option)
        case (_, let value?): try add(value, for: option)
        }
    }

    /// Returns the option of the first letter of several, and the letters or the value after it.
    private func optionOfLetter(_ word: String) -> (option: Parameter, rest: String)? {
        let (title, rest) = (String(word.unicodeScalars.prefix(2)), String(word.unicodeScalars.dropFirst(2)))
        return arguments.knownOptions.first { $0.letter != nil && $0.isNamed(title) }.map { ($0, rest) }
    }

    /// Reads options that share a hyphen. The value of the last one may follow it: `-fn20`.
    private mutating func handleLetters(_ option: Parameter, _ rest: String) throws(UsageError) {
        guard option.kind == .flag else { return try add(rest, for: option) }
        arguments.add("", for: option.name)
        try handleOption("-\(rest)")
    }

    private mutating func add(_ value: String, for parameter: Parameter) throws(UsageError) {
        if let words = parameter.values.refusal(of: value) {
            throw arguments.usage("\(parameter.title) takes \(words), not '\(value)'")
        }
        arguments.add(value, for: parameter.name)
    }

    private func missingValue(of option: Parameter, before word: String = "") -> UsageError {
        let isKnown = arguments.knownOptions.contains { $0.isNamed(word.parts.name) }
        let form = word.isEmpty || isKnown ? "" : " (a value with a hyphen follows '=': \(option.title)=\(word))"
        return arguments.usage("missing value for '\(option.form)'\(form)")
    }

    /// The command line that asks for the help of the verb.
    private var help: Arguments {
        var help = Arguments(of: arguments.program)
        help.path.append(.help())
        for verb in arguments.path.dropFirst() { help.add(verb.name, for: .verb) }
        return help
    }

    private mutating func finish() throws(UsageError) -> Arguments {
        if arguments.has(.help) { return help }
        if let pending { throw missingValue(of: pending) }
        let verb = arguments.verb
        guard verb.isLast || verb.command != nil && trailing != nil else {
            guard arguments.isEmpty, trailing == nil else { throw arguments.usage("missing command") }
            return help
        }
        try assignOperands(of: verb)
        for parameter in verb.parameters() where parameter.isRequired && !arguments.has(parameter.name) {
            throw arguments.usage("missing expected argument '\(parameter.form)'")
        }
        for names in arguments.path.reversed().flatMap({ $0.excluding() }) where names.count(where: arguments.has) > 1 {
            let parameters = arguments.path.flatMap { $0.parameters() }
            let titles = names.compactMap { name in parameters.last { $0.name == name }?.title }
            throw arguments.usage("\(titles.list("and")) exclude one another")
        }
        return arguments
    }

    /// Gives the arguments of the verb their values.
    private mutating func assignOperands(of verb: Verb) throws(UsageError) {
        let command = verb.command
        var rest = (command == nil ? operands + (trailing ?? []) : operands)[...]
        for parameter in verb.parameters() where parameter.kind == .argument {
            while let word = rest.popFirst() {
                try add(word, for: parameter)
                if !parameter.isRepeating { break }
            }
        }
        if let command {
            guard rest.isEmpty, let trailing, !trailing.isEmpty else {
                throw arguments.usage("the \(command.placeholder) belongs after --, as in: \(verb.example)")
            }
            for word in trailing { arguments.add(word, for: command.name) }
        }
        if let word = rest.first { throw arguments.usage("unexpected argument '\(word)'") }
    }
}

extension String {
    /// A Boolean value that indicates whether the word begins with a hyphen and is not a hyphen alone.
    ///
    /// By bytes: a hyphen and a combining mark are one character.
    var isOption: Bool { utf8.first == UInt8(ascii: "-") && utf8.count > 1 }

    /// The name of an option, and the value after `=`.
    var parts: (name: String, value: String?) {
        guard let equals = utf8.firstIndex(of: UInt8(ascii: "=")) else { return (self, nil) }
        return (String(self[..<equals]), String(self[utf8.index(after: equals)...]))
    }
}
