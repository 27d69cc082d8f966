import ArgumentParser
import ControlAPI

// Completion of app and scene names. A shell starts lifectl with the words that were typed, and lifectl asks the daemon.

extension CompletionKind {
    static var knownApps: CompletionKind {
        answer { session in try session.call(.list).apps.map(\.id) }
    }

    static var launchableApps: CompletionKind {
        answer { session in
            let known = try session.call(.list).apps.map(\.id)
            return known + (try session.call(.listAvailable, ListAvailableParameters()).apps.map(\.id)).filter { !known.contains($0) }
        }
    }

    static var knownScenes: CompletionKind {
        answer { session in ListedScenes(apps: try session.call(.list).apps).scenes.map(\.name.text) }
    }

    private static func answer(_ ask: @escaping @Sendable (inout Session) throws -> [String]) -> CompletionKind {
        .custom { words, index, _ in
            let place = TypedLine(words, completing: index, environment: Environment.current)
            guard let options = place.options else { return [] }
            do {
                var session = try Session(options.callOptions, doing: "cannot complete")
                return try ask(&session)
            } catch {
                // The tabulator key prints no messages.
                return []
            }
        }
    }
}

/// The options of an unfinished command line that name the daemon.
struct TypedLine {
    /// The time for a completion, in seconds.
    private static let patience = "2"

    /// The options that name the daemon; nil if they cannot be known.
    let arguments: [String]?

    /// - Parameters:
    ///   - words: The line as it was typed, with quotes. In bash the `=` of `--socket=PATH` is a word of its own.
    ///   - index: The word to complete.
    init(_ words: [String], completing index: Int, environment: [String: String]) {
        var arguments: [String] = []
        var rest = words.enumerated().filter { $0.offset != index }.map(\.element)[...]
        while let word = rest.popFirst(), word != "--" {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch parts.first {
            case "--system", "--user": arguments.append(word)
            case "--host":
                // Another machine takes long, and may need a password.
                self.arguments = nil
                return
            case "--socket":
                if parts.count == 1, rest.first == "=" { rest.removeFirst() }
                let value = parts.count == 2 ? String(parts[1]) : rest.popFirst()
                guard let path = value.flatMap({ Self.meaning(of: $0, environment: environment) }) else {
                    self.arguments = nil
                    return
                }
                arguments += ["--socket", path]
            default: continue
            }
        }
        self.arguments = arguments
    }

    /// The options of a command for the same daemon.
    var options: GlobalOptions? { arguments.flatMap { try? GlobalOptions.parse($0 + ["--timeout", Self.patience]) } }

    /// Returns the value of a shell's word; nil if it has expansions that only a shell knows.
    static func meaning(of word: String, environment: [String: String]) -> String? {
        var meaning = ""
        var quote: Character?
        var rest = word[...]
        if rest.hasPrefix("~") {
            guard rest == "~" || rest.hasPrefix("~/"), let home = environment["HOME"] else { return nil }
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
