/// A word of a shell's command line, as it was typed.
package enum ShellWord {
    /// Returns the value of a shell's word; nil if it has expansions that only a shell knows.
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
