import Testing

/// Holds the daemon to one direction: a part returns what has happened, or appends it to the inbox, and does not know its owner.
@Suite struct OneDirectionTests {
    /// The files that still reach back to an owner or a later part. The list can only become shorter.
    static let remaining: Set<String> = [
        "Desktop/ActivatedApps.swift", "Desktop/AppUnits.swift", "Desktop/BusCalls.swift",
    ]

    @Test func noOtherPartOfTheDaemonKnowsItsOwner() throws {
        let directory = SourceTree.root + "/Sources/LifecycleDaemon/"
        let found = try SourceTree.swiftFiles(of: "LifecycleDaemon").filter { file in
            file.code.contains { line in
                let words = line.split(separator: " ")
                return words.contains("unowned") || zip(words, words.dropFirst()).contains { $0 == ("weak", "var") }
            }
        }
        #expect(Set(found.map { String($0.path.dropFirst(directory.count)) }) == Self.remaining)
    }

    /// What changes in the root while the daemon runs. All else is there when the root is made.
    static let changing: Set<Substring> = ["isHandingOver", "isShuttingDown", "reexecution", "announcer", "replies"]

    @Test func partIsCompleteWhenTheRootHasMadeIt() throws {
        let root = try SourceTree.swiftFiles(of: "LifecycleDaemon").filter { file in
            file.path.contains("/LifecycleDaemon/Daemon") || file.path.hasSuffix("/LifecycleDaemon/Turn.swift")
        }
        #expect(root.count == 5)
        for line in root.flatMap(\.code) {
            if let variable = line.wholeMatch(of: #/    (?:private )?(?:private\(set\) )?var (\w+)[^{]*/#)?.output.1 {
                #expect(Self.changing.contains(variable), "the root sets \(variable) after construction")
            }
            #expect(!line.contains(#/^ +(?!self\.\w+ =)\w+(\.\w+)+ = /#), "the root sets a property of a part:\(line)")
        }
    }
}
