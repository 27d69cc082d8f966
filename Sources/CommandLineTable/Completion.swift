/// The words that may stand at one place of an unfinished command line: `lifectl --complete INDEX -- lifectl focus ''`.
package struct Completion {
    /// The line that has the shell complete names of files.
    package static let files = ":files"

    private let program: Verb
    private let words: [String]
    private let index: Int

    /// - Parameters:
    ///   - words: The line as it was typed, with quotes. In bash the `=` of `--socket=PATH` is a word of its own.
    ///   - index: The word to complete.
    package init(_ words: [String], completing index: Int, of program: Verb) {
        (self.words, self.index, self.program) = (words, index, program)
    }

    /// Returns the words, each with a tab and its explanation.
    static func text(_ arguments: Arguments) -> String {
        let (words, index) = (arguments.all(.command), arguments.number(.index) ?? 0)
        guard index > 0, index < words.count else { return "" }
        return Completion(words, completing: index, of: arguments.program).lines.map { "\($0)\n" }.joined()
    }

    /// Reads words as far as they have a meaning.
    private func read(_ words: some Sequence<String>) -> CommandLineParser {
        var parser = CommandLineParser(of: program)
        for word in words where word != "=" { try? parser.handle(word) }
        return parser
    }

    /// The line without the word to complete: also the words after the cursor count.
    package var rest: CommandLineParser { read(words[1..<index] + words[(index + 1)...]) }

    package var lines: [String] {
        let isHelp = words[1..<index].first == "help"
        let line = read(words[(isHelp ? 2 : 1)..<index])
        let word = words[index]
        if let option = line.pending { return values(of: option, word) }
        let (name, value) = word.parts
        if let value, let option = line.arguments.knownOptions.first(where: { $0.isNamed(name) }) {
            return values(of: option, value).map { $0 == Self.files ? $0 : "\(name)=\($0)" }
        }
        let verb = line.arguments.verb
        let next = line.trailing == nil ? verb.shownVerbs : []
        let verbs = next.filter { $0.name.hasPrefix(word) }.map { "\($0.name)\t\($0.summary)" }
        if isHelp || !verbs.isEmpty { return verbs }
        let parameters = verb.parameters().filter {
            $0.kind == .argument || $0.kind == .command && line.trailing != nil
        }
        let place = min(line.operands.count + (line.trailing?.count ?? 0), parameters.count)
        let argument = (parameters[place...].first ?? parameters.last { $0.isRepeating }).map { values(of: $0, word) }
        let found = argument ?? []
        let mayBeOption = line.trailing == nil && (word.isEmpty || word.hasPrefix("-"))
        guard mayBeOption, found != [Self.files] else { return found }
        let options = line.arguments.knownOptions.filter {
            !$0.isHidden && $0.title.hasPrefix(word) && ($0.isRepeating || !line.arguments.has($0.name))
        }
        return found + options.map { "\($0.title)\t\($0.help)" }
    }

    private func values(of parameter: Parameter, _ start: String) -> [String] {
        let known: [String]
        switch parameter.values {
        case .text where parameter.kind == .command, .files: return [Self.files]
        case .text, .checked: return []
        case .oneOf(let words): known = words
        case .known(_, let list): known = list(rest)
        }
        let stem = ShellWord.meaning(of: start) { _ in nil } ?? start
        return known.filter { $0.hasPrefix(stem) }
    }
}

/// A word of a shell's command line, as it was typed.
package enum ShellWord {
    /// Returns the value of a shell's word.
    ///
    /// - Parameters:
    ///   - word: The word, as it was typed.
    ///   - environment: Returns the value of a variable; nil if it is not set.
    /// - Returns: The value; nil if the word has expansions that only a shell knows.
    package static func meaning(of word: String, environment: (String) -> String?) -> String? {
        var meaning = ""
        var quote: Character?
        var rest = word[...]
        if rest.hasPrefix("~") {
            guard rest == "~" || rest.hasPrefix("~/"), let home = environment("HOME") else { return nil }
            meaning = home
            rest.removeFirst()
        }
        while let character = rest.popFirst() {
            switch (quote, character) {
            case ("'", "'"), ("\"", "\""): quote = nil
            case ("'", _): meaning.append(character)
            case (nil, "'"), (nil, "\""): quote = character
            case (_, "\\"): if let escaped = rest.popFirst() { meaning.append(escaped) }
            case (_, "$"), (_, "`"), (nil, "*"), (nil, "?"), (nil, "["): return nil
            default: meaning.append(character)
            }
        }
        return meaning.isEmpty ? nil : meaning
    }
}
