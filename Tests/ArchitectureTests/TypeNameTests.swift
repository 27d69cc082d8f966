import Testing

/// One name, one type: a name that two targets declare has to be qualified by its module wherever both are imported.
@Suite struct TypeNameTests {
    private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "open", "final", "indirect", "nonisolated", "unsafe",
    ]

    /// Returns the type that a line declares at the top level of a file, unless it is private to the file.
    static func type(declaredBy line: Substring) -> String? {
        let words = line.split(separator: " ").drop { modifiers.contains($0) || $0.hasPrefix("@") }
        guard line.first?.isWhitespace == false, let kind = words.first, kinds.contains(kind) else { return nil }
        return words.dropFirst().first.map { String($0.prefix { $0.isLetter || $0.isNumber || $0 == "_" }) }
    }

    @Test func noTypeNameStandsInTwoTargets() throws {
        var targets: [String: Set<String>] = [:]
        for folder in ["Sources", "Tests", "Examples"] {
            for target in try SourceTree.targets(in: folder) {
                for file in try SourceTree.swiftFiles(of: target, in: folder) {
                    for type in file.code.compactMap(Self.type) { targets[type, default: []].insert(target) }
                }
            }
        }
        #expect(targets.count > 1000)
        for (type, targets) in targets.sorted(by: { $0.key < $1.key }) where targets.count > 1 {
            Issue.record("\(type) is declared by \(targets.sorted().joined(separator: " and "))")
        }
    }

    @Test func modifiersAndNestingAreTold() {
        #expect(Self.type(declaredBy: "@MainActor public final class Loop: Sendable {") == "Loop")
        #expect(Self.type(declaredBy: "private struct Loop {") == nil)
        #expect(Self.type(declaredBy: "    struct Loop {") == nil)
        #expect(Self.type(declaredBy: "extension Loop {") == nil)
    }
}
