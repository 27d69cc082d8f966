/// A TOML text that was understood: its values, and the lines of its keys.
struct TOMLDocument {
    /// The whole text is a table.
    let root: [String: TOMLNode]

    private let lines: [[String]: Int]

    /// Reads a text, which is not trusted in any way.
    ///
    /// - Throws: The first place that is not TOML 1.0.0, or that no configuration has.
    init(_ text: String) throws(TOMLDefect) {
        var parser = TOMLParser(Array(text.utf8))
        root = try parser.parse()
        lines = parser.lines
    }

    /// Returns the line of a key, or of the nearest table around it.
    func line(of path: [String]) -> Int? {
        var path = path
        while !path.isEmpty {
            if let line = lines[path] { return line }
            path.removeLast()
        }
        return nil
    }

    /// Returns the name of an array's element in a path, counted from 1.
    static func element(_ number: Int) -> String { "[\(number)]" }
}

/// The reason why a text is not TOML, or is TOML of a shape that no configuration has.
struct TOMLDefect: Error, Equatable {
    /// The line concerned, counted from 1.
    let line: Int

    let message: String

    init(line: Int, cause: String) {
        self.line = line
        message = "cannot parse the file: \(cause); ignoring the file"
    }
}
