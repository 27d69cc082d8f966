import ControlAPI

/// The words that may stand at one place of an unfinished command line: `lifectl --complete INDEX -- lifectl focus ''`.
struct Completion {
    /// The time for an answer of the daemon.
    private static let patience = Duration.seconds(2)
    /// The line that has the shell complete names of files.
    static let files = ":files"

    private let words: [String]
    private let index: Int

    /// - Parameters:
    ///   - words: The line as it was typed, with quotes. In bash the `=` of `--socket=PATH` is a word of its own.
    ///   - index: The word to complete.
    init(_ words: [String], completing index: Int) { (self.words, self.index) = (words, index) }

    /// Prints the words, each with a tab and its explanation.
    static func run(_ arguments: Arguments) throws {
        let (words, index) = (arguments.all(.command), arguments.number(.index) ?? 0)
        guard index > 0, index < words.count else { return }
        let lines = Completion(words, completing: index).lines
        try StandardStream.output.write(lines.map { "\($0)\n" }.joined())
    }

    /// Reads words as far as they have a meaning.
    private static func read(_ words: some Sequence<String>) -> CommandLineParser {
        var parser = CommandLineParser()
        for word in words where word != "=" { try? parser.take(word) }
        return parser
    }

    var lines: [String] {
        let isHelp = words[1..<index].first == Verb.help.name
        let line = Self.read(words[(isHelp ? 2 : 1)..<index])
        let word = words[index]
        if let option = line.pending { return values(of: option, word) }
        let (name, value) = word.parts
        if let value, let option = line.arguments.knownOptions.first(where: { $0.isNamed(name) }) {
            return values(of: option, value).map { $0 == Self.files ? $0 : "\(name)=\($0)" }
        }
        let verb = line.arguments.verb
        let verbs = verb.shownVerbs.filter { $0.name.hasPrefix(word) }.map { "\($0.name)\t\($0.summary)" }
        if isHelp || !verbs.isEmpty { return verbs }
        let parameters = verb.parameters.filter { $0.kind == .argument || $0.kind == .command && line.trailing != nil }
        let place = min(line.operands.count + (line.trailing?.count ?? 0), parameters.count)
        let argument = (parameters[place...].first ?? parameters.last { $0.isRepeating }).map { values(of: $0, word) }
        let found = argument ?? []
        let mayBeOption = line.trailing == nil && (word.isEmpty || word.hasPrefix("-"))
        guard mayBeOption, found != [Self.files] else { return found }
        let options = line.arguments.knownOptions.filter { $0.isRepeating || !line.arguments.has($0.name) }
        return found + options.filter { $0.title.hasPrefix(word) }.map { "\($0.title)\t\($0.help)" }
    }

    private func values(of parameter: Parameter, _ start: String) -> [String] {
        let known: [String]
        switch parameter.values {
        case .text where parameter.kind == .command, .files: return [Self.files]
        case .text, .checked: return []
        case .oneOf(let words): known = words
        case .listed(let question): known = ask(question)
        case .processes:
            guard let ps = try? LineProgram(["ps", "-eo", "pid="], doing: "cannot complete") else { return [] }
            known = sequence(state: ps) { $0.nextLine() }.map { String($0.drop { $0 == " " }) }
        }
        let stem = ShellWord.meaning(of: start, environment: Environment.value) ?? start
        return known.filter { $0.hasPrefix(stem) }.map(Text.printable)
    }

    /// Asks the daemon that the line names, also behind the cursor. The tabulator key prints no messages.
    private func ask(_ question: (inout Session) throws -> [String]) -> [String] {
        guard var options = options(environment: Environment.value) else { return [] }
        options.explicitTimeout = Self.patience
        guard var session = try? Session(options, doing: "cannot complete") else { return [] }
        return (try? question(&session)) ?? []
    }

    /// The options that name the daemon; nil if it cannot be known.
    func options(environment: (String) -> String?) -> CallOptions? {
        let line = Self.read(words[1..<index] + words[(index + 1)...])
        // Another machine takes long, and may need a password.
        guard !line.arguments.has(.host), line.pending?.name != .socket, line.pending?.name != .host else { return nil }
        var options = line.arguments.options
        if let socket = line.arguments[.socket] {
            guard let path = ShellWord.meaning(of: socket, environment: environment) else { return nil }
            options.choice = .path(path)
        }
        return options
    }
}
