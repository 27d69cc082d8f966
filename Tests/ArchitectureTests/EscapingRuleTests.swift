import Testing

/// Holds escapings to bytes and Unicode scalars.
///
/// A `Character` can be an apostrophe with a combining mark. The string methods below compare by `Character`, so an
/// escaping that uses one of them lets such an apostrophe pass.
@Suite struct EscapingRuleTests {
    private static let forbidden = [".replacing(", ".replace(\"", "replacingOccurrences(", ".translating("]

    @Test func noSourceReplacesByCharacter() throws {
        for target in try SourceTree.targets() {
            for file in try SourceTree.swiftFiles(of: target) {
                for line in file.code {
                    for call in Self.forbidden where line.contains(call) {
                        Issue.record("\(file.path): \(call) compares by Character; escape by bytes or Unicode scalars")
                    }
                }
            }
        }
    }
}
