import ArgumentParser
import ControlAPI

// What the shells complete. They start lifectl with the words that are typed so far, so that the daemon is asked which those
// words name.
extension CompletionKind {
    /// The ids of apps that are known.
    static var knownApps: CompletionKind {
        answer { session in try session.call(.list).apps.map(\.id) }
    }

    /// The ids of apps that are known, and of those that can be launched.
    static var launchableApps: CompletionKind {
        answer { session in
            let known = try session.call(.list).apps.map(\.id)
            return known + (try session.call(.apps, AppsParameters()).apps.map(\.id)).filter { !known.contains($0) }
        }
    }

    /// The scenes that are known, as APP/SCENE.
    static var knownScenes: CompletionKind {
        answer { session in ListedScenes(apps: try session.call(.list).apps).scenes.map(\.name.text) }
    }

    private static func answer(_ ask: @escaping @Sendable (inout Session) throws -> [String]) -> CompletionKind {
        .custom { words, index, _ in
            let place = TypedLine(words, completing: index, environment: Environment.current)
            guard let options = place.options else { return [] }
            do {
                var session = try Session(options, doing: "cannot complete")
                return try ask(&session)
            } catch {
                // Who presses the tabulator key has not asked for a message.
                return []
            }
        }
    }
}

/// A command line that is not finished, as far as it says which daemon it is for.
struct TypedLine {
    /// Nobody waits longer for what a key should bring, in seconds.
    private static let patience = "2"

    /// What names the daemon, to be read as options; nil where that is not to be known, and so nothing to be offered.
    let arguments: [String]?

    /// - Parameters:
    ///   - words: The line as it was typed, quotes included. bash has the `=` of `--socket=PATH` as a word of its own.
    ///   - index: The word that is to be completed.
    init(_ words: [String], completing index: Int, environment: [String: String]) {
        var arguments: [String] = []
        var rest = words.enumerated().filter { $0.offset != index }.map(\.element)[...]
        while let word = rest.popFirst(), word != "--" {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            switch parts.first {
            case "--system", "--user": arguments.append(word)
            case "--host":
                // To ask another machine takes long, and may need a password.
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

    /// The options of a command that would be for the same daemon.
    var options: GlobalOptions? { arguments.flatMap { try? GlobalOptions.parse($0 + ["--timeout", Self.patience]) } }

    /// What a shell makes of a word; nil where only a shell can tell.
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
