import Testing

/// Holds the format of the saved state to the tables that write and read it.
@Suite struct SavedTablesTests {
    @Test func formatNamesTheTables() throws {
        let source = try SourceTree.read(SourceTree.root + "/Sources/LifecycleDaemon/State/SavedState.swift")
        let declaration = /static let format = "([0-9]+)\.([0-9a-f]+)"/
        let format = try #require(source.firstMatch(of: declaration)).output
        let hash = String(try Self.hashOfTables(), radix: 16)
        #expect(format.2 == hash, "a saved table has changed: set SavedState.format to \(format.1).\(hash)")
    }

    /// Returns the FNV-1a hash of the types and names of all saved values, in the order of their tables.
    private static func hashOfTables() throws -> UInt64 {
        var tables: [String] = []
        for target in ["LifecycleCore", "LifecycleDaemon"] {
            for file in try SourceTree.swiftFiles(of: target) {
                let values = file.code.joined(separator: "\n").matches(
                    of: /\b(?:coder|parts)\.([a-z]+)\((?:\s*"([a-z-]+)")?/)
                guard !values.isEmpty else { continue }
                tables.append(values.map { "\($0.output.1) \($0.output.2 ?? "")" }.joined(separator: ", "))
            }
        }
        // A definition is saved as the text of a manifest.
        for file in try SourceTree.swiftFiles(of: "Configuration") where file.path.hasSuffix("/Manifest.swift") {
            let keys = file.code.joined(separator: "\n").matches(of: /\bKey\(\s*"([A-Za-z]+)", ([^\n]*)/)
            tables.append(keys.map { "\($0.output.1) \($0.output.2)" }.joined(separator: ", "))
        }
        return tables.sorted().joined(separator: "\n").utf8.reduce(0xcbf2_9ce4_8422_2325) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
    }
}
