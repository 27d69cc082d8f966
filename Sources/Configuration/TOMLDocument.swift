/// A TOML text that was understood: its values, and the lines of its keys.
struct TOMLDocument {
    /// The whole text is a table.
    let root: [String: TOMLNode]

    private let locator: KeyLocator

    /// Reads a text, which is not trusted in any way.
    init(_ text: String, reader: TOMLReader = TOMLReader()) throws(TOMLDefect) {
        locator = try KeyLocator(Array(text.utf8))
        root = try reader.read(text)
    }

    /// The line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        locator.line(of: path)
    }
}
