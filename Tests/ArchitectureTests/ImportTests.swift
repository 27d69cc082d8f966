import Testing

/// Holds the sources to the directions that docs/ARCHITECTURE.md draws.
@Suite struct ImportTests {
    /// The modules that each target imports, by the table of targets.
    static let table = Result { try targets(of: SourceTree.read(SourceTree.root + "/docs/ARCHITECTURE.md")) }

    /// Returns the third column of the table under the heading *Targets*, by the targets that its first column names.
    static func targets(of text: String) -> [String: Set<String>] {
        var modules: [String: Set<String>] = [:]
        let section = text.split(separator: "\n## ").first { $0.hasPrefix("Targets\n") } ?? ""
        for row in section.split(separator: "\n") where row.hasPrefix("| `Sources/") {
            let cells = row.split(separator: "|")
            let targets = cells[0].split { $0 == " " || $0 == "`" || $0 == "," }
            let imports = cells[cells.count - 1].split { $0 == " " || $0 == "," || $0 == "–" }.map(String.init)
            for target in targets { modules[String(target.dropFirst("Sources/".count))] = Set(imports) }
        }
        return modules
    }

    /// Words that the core must not know: it has no clock, no chance, no input and no output.
    static let strangeToTheCore: Set<String> = [
        "ContinuousClock", "SuspendingClock", "clock_gettime", "Date", "Task", "async", "await", "random",
        "randomElement", "shuffle", "shuffled", "SystemRandomNumberGenerator", "print", "debugPrint", "getenv",
    ]

    @Test(arguments: try SourceTree.targets())
    func targetImportsTheModulesOfItsRow(target: String) throws {
        let listed = try #require(try Self.table.get()[target], "\(target) is not in the table")
        let files = try SourceTree.swiftFiles(of: target)
        for file in files {
            for module in file.imports where !listed.contains(module) {
                Issue.record("\(file.path) imports \(module)")
            }
        }
        #expect(listed.subtracting(files.flatMap(\.imports)).isEmpty, "the row of \(target) lists more than it imports")
    }

    @Test func fileThatThePageNamesExists() throws {
        let files = try SourceTree.targets().flatMap { try SourceTree.swiftFiles(of: $0) }
        let page = try SourceTree.read(SourceTree.root + "/docs/ARCHITECTURE.md")
        let names = page.matches(of: /`([A-Za-z+\/]+\.swift)`/).map { "/" + $0.output.1 }
        #expect(names.count > 30)
        for name in names { #expect(files.contains { $0.path.hasSuffix(name) }, "there is no \(name)") }
    }

    @Test func tableListsNoOtherTargets() throws {
        #expect(try Self.table.get().keys.sorted() == SourceTree.targets())
    }

    @Test func `the core knows no clock, no chance and no world`() throws {
        for file in try SourceTree.swiftFiles(of: "LifecycleCore") {
            for line in file.code {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
                for word in words where Self.strangeToTheCore.contains(word) {
                    Issue.record("\(file.path): \(word) in \(line)")
                }
            }
        }
    }

    /// What has a text beside its label: names of interruptions, which clients choose, and the text that an app keeps with a scene.
    static let textsOfOthers: Set<String> = [
        "beginInterruption", "endInterruption", "interruptionBegan", "interruptionEnded", "noSuchInterruption",
        "sceneInfo",
    ]

    @Test func coreIsGivenAndGivesNoTextForUsers() throws {
        for file in try SourceTree.swiftFiles(of: "LifecycleCore") where file.path.contains("/Interface/") {
            for line in file.code {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != ":" }.map(String.init)
                guard words.first == "case", words.count > 1, !Self.textsOfOthers.contains(words[1]) else { continue }
                for (label, word) in zip(words, words.dropFirst()) where word == "String" && !label.hasSuffix(":") {
                    Issue.record("\(file.path): a text without a label in \(line)")
                }
            }
        }
    }

    @Test func `the main program is small`() throws {
        let lines = try SourceTree.swiftFiles(of: "lifed").reduce(0) { $0 + $1.lines.count }
        #expect(lines < 120, "lifed has \(lines) lines")
    }
}
