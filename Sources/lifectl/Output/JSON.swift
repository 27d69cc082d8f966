import FoundationEssentials

/// A reply as one line of JSON, its keys in order so that scripts and diffs see the same every time.
enum JSON {
    /// Whether a text is JSON.
    static func isText(_ text: String) -> Bool {
        (try? JSONDecoder().decode(Anything.self, from: Data(text.utf8))) != nil
    }

    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    static func line(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Escaping.json(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }
}
