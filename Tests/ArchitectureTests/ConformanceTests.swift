import Testing

/// Holds Tests/conformance.md to what there is: it names code and tests, and both go away at times.
@Suite struct ConformanceTests {
    static let page = "Tests/conformance.md"

    @Test func testsOfTheTableExist() throws {
        let references = try Self.rows().flatMap { $0.code + $0.tests }
        #expect(references.count > 100)
        for (path, references) in Dictionary(grouping: references, by: \.path) {
            let source = (try? SourceTree.read(SourceTree.root + "/" + path)).map(Declarations.init)
            for reference in references where source?.contain(reference.name) != true {
                let place = "\(Self.page), line \(reference.line)"
                Issue.record("\(place): there is no \(path) that declares \(reference.name)")
            }
        }
    }

    @Test func `every statement has its place and its test`() throws {
        for row in try Self.rows() {
            #expect(!row.code.isEmpty, "\(Self.page), line \(row.line): no code is named")
            #expect(!row.tests.isEmpty, "\(Self.page), line \(row.line): no test is named")
        }
    }

    @Test func `each threat names a test that is there`() throws {
        let page = "docs/design/security.md"
        let lines = try SourceTree.read(SourceTree.root + "/" + page).split(
            separator: "\n", omittingEmptySubsequences: false)
        let threats = lines.enumerated().compactMap { index, line -> [Reference]? in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
            guard cells.count == 5, let last = cells.last, last != " test ", !last.hasPrefix("---") else { return nil }
            return Reference.all(in: last, below: "Tests/", line: index + 1)
        }
        #expect(threats.count > 10)
        for references in threats {
            #expect(!references.isEmpty)
            for reference in references {
                let source = try Declarations(SourceTree.read(SourceTree.root + "/" + reference.path))
                #expect(source.contain(reference.name), "\(page), line \(reference.line): no \(reference.name)")
            }
        }
    }

    @Test func `each step of a launch names functions that are there`() throws {
        let page = try SourceTree.read(SourceTree.root + "/docs/design/launch.md")
        let names = page.split(separator: "\n").flatMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            return cells.count == 6 ? cells[3].matches(of: /([A-Za-z_]+)\(\)/).map { String($0.output.1) } : []
        }
        let files = ["CLinux/child.c", "CLinux/spawn.c", "LifecycleDaemon/Apps/AppLauncher.swift"]
        let sources = try files.map { try SourceTree.read(SourceTree.root + "/Sources/" + $0) }.joined()
        #expect(names.count > 10)
        for name in names { #expect(sources.contains(name + "("), "no \(name)()") }
    }

    struct Row {
        let line: Int
        let code: [Reference]
        let tests: [Reference]
    }

    /// The rows of the tables with three columns: statement, code, test.
    static func rows() throws -> [Row] {
        let lines = try SourceTree.read(SourceTree.root + "/" + page).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
            guard cells.count == 3, let statement = cells.first, !statement.hasPrefix("---"),
                statement != " statement "
            else { return nil }
            let columns = Array(cells)
            return Row(
                line: index + 1, code: Reference.all(in: columns[1], below: "Sources/", line: index + 1),
                tests: Reference.all(in: columns[2], below: "Tests/", line: index + 1))
        }
    }
}

/// A declaration that the page names, as "path: name" in backquotes.
struct Reference {
    let line: Int
    let path: String
    let name: String

    /// A cell's references. One without a path is in the same file as the one before it.
    static func all(in cell: Substring, below folder: String, line: Int) -> [Reference] {
        var path = ""
        return cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, text in
            guard index % 2 == 1 else { return nil }
            let parts = text.split(separator: ": ", maxSplits: 1)
            if parts.count == 2 { path = folder + parts[0] }
            return Reference(line: line, path: path, name: String(parts.last ?? ""))
        }
    }
}

/// What a source in Swift, C or Python declares, as far as words can tell, or the cases of a transcript.
struct Declarations {
    private static let keywords: Set<Substring> = [
        "func", "case", "var", "let", "struct", "enum", "class", "extension", "def", "int", "void",
    ]

    private let text: String
    private let names: Set<Substring>

    init(_ text: String) {
        self.text = text
        let isPartOfName = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_".utf8)
        let words = text.utf8.split { !isPartOfName.contains($0) }.map { Substring($0) }
        names = Set(zip(words, words.dropFirst()).filter { Self.keywords.contains($0.0) }.map(\.1))
    }

    func contain(_ name: String) -> Bool {
        names.contains(Substring(name)) || text.contains("func `\(name)`") || text.contains("=== \(name)\n")
    }
}
