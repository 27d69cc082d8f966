import Testing

/// Holds the tables of the saved state to the list of their values.
///
/// A slot has its values in the order of the table. A daemon of another version reads it only if that version has the same values at
/// the beginning of the table.
@Suite struct SavedNamesTests {
    private static let list = "Tests/saved-names.txt"

    @Test func valuesOfTheTablesAreThoseOfTheVersion() throws {
        let found = try Self.tables().joined(separator: "\n")
        let listed = try SourceTree.read(SourceTree.root + "/" + Self.list)
        #expect(
            found == listed,
            """
            add a new value at the end of its table, and to \(Self.list); after another change of a table, raise \
            SavedState.version. The list should be:
            \(found)
            """)
    }

    /// Returns the version of the state, and a line for each file with tables: its values in their order, each with its type.
    private static func tables() throws -> [String] {
        var lines: [String] = []
        for target in ["LifecycleCore", "LifecycleDaemon"] {
            for file in try SourceTree.swiftFiles(of: target) {
                let code = file.code.joined(separator: "\n")
                if let version = code.firstMatch(of: /static let version = ("[0-9]+")/) {
                    lines.append("version \(version.output.1)")
                }
                let values = code.matches(of: /\b(?:coder|slot)\.([a-z]+)\(\s*"([a-z-]+)"/)
                guard !values.isEmpty else { continue }
                let name = file.path.split(separator: "/").last ?? ""
                lines.append("\(name): " + values.map { "\($0.output.1) \($0.output.2)" }.joined(separator: ", "))
            }
        }
        return lines.sorted() + [""]
    }
}
