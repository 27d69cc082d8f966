import Glibc
import TestSupport
import Testing

@testable import Configuration

@Suite struct HostileFileTests {
    /// What stands where a manifest should, and what is said of it.
    private func problem(_ make: (TemporaryDirectory) throws -> Void) throws -> [String] {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['/bin/sh']", to: "apps.d/good.toml")
        try make(directory)
        let configuration = try directory.load()
        #expect(configuration.manifests.map(\.id) == ["good"])
        return directory.problems(configuration)
    }

    @Test func aFIFODoesNotBlock() throws {
        let problems = try problem { try $0.makeFIFO("apps.d/bad.toml") }
        #expect(problems == ["apps.d/bad.toml: cannot read the file: it is not a regular file; ignoring it"])
    }

    @Test func nameThatIsNotUTF8IsReported() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("command = ['/bin/sh']", to: "apps.d/renamed.toml")
        let bytes = Array("\(directory.path)/apps.d/".utf8) + [0xFF] + Array(".toml".utf8) + [0]
        let name = bytes.map { CChar(bitPattern: $0) }
        #expect(unsafe rename(file, name) == 0)
        defer { unsafe remove(name) }
        let configuration = try directory.load()
        #expect(configuration.manifests == [])
        #expect(
            directory.problems(configuration) == [
                "apps.d/\u{FFFD}.toml: cannot read the file: its name is not valid UTF-8; rename it"
            ])
    }

    @Test func arrayOfTablesIsReadInTheTimeOfItsLength() throws {
        // If each table copied those before it, this would take minutes.
        let document = try TOMLDocument(String(repeating: "[[a]]\n", count: 170_000))
        guard case .array(let tables) = document.root["a"] else {
            throw Defect(line: 1, cannot: "parse the file", "no array", remedy: "ignoring the file")
        }
        #expect(tables.count == 170_000)
    }

    @Test func aDirectoryIsNoFile() throws {
        let problems = try problem { try $0.makeDirectory("apps.d/bad.toml") }
        #expect(problems == ["apps.d/bad.toml: cannot read the file: it is not a regular file; ignoring it"])
    }

    @Test func anEndlessDeviceIsNoFile() throws {
        let problems = try problem { try $0.link("apps.d/bad.toml", to: "/dev/zero") }
        #expect(problems == ["apps.d/bad.toml: cannot read the file: it is not a regular file; ignoring it"])
    }

    @Test func linksThatLeadNowhereAreReported() throws {
        let problems = try problem { directory in
            try directory.link("apps.d/bad.toml", to: "/no/such/file")
            try directory.link("apps.d/loop.toml", to: "loop.toml")
        }
        #expect(
            problems == [
                "apps.d/bad.toml: cannot read the file: it is a link to a file that does not exist; ignoring it",
                "apps.d/loop.toml: cannot open the file: Too many levels of symbolic links; ignoring it",
            ]
        )
    }

    @Test func sizeHasALimit() throws {
        let line = "# 89012345678901\n"
        let text = String(repeating: line, count: TextFile.maximumSize / line.utf8.count)
        let problems = try problem { directory in
            try directory.write(text + line, to: "apps.d/bad.toml")
        }
        #expect(problems == ["apps.d/bad.toml: cannot read the file: it is larger than 1048576 bytes; ignoring it"])
    }

    @Test func bytesThatAreNotTextAreReportedWithTheirLine() throws {
        let problems = try problem { directory in
            try directory.write(Array("# one\n# two ".utf8) + [0xFF], to: "apps.d/bad.toml")
            try directory.write(Array("# one\n# two\n# ".utf8) + [0] + Array("\nx = 1".utf8), to: "apps.d/nul.toml")
        }
        #expect(
            problems == [
                "apps.d/bad.toml:2: cannot read the file: it is not valid UTF-8; ignoring it",
                "apps.d/nul.toml:3: cannot parse the file: the text has the character NUL; ignoring the file",
            ]
        )
    }

    @Test func theProblemsOfOneFileHaveALimit() throws {
        let text = (0..<5000).map { "unknown\($0) = 1\n" }.joined()
        let problems = try problem { try $0.write(text, to: "apps.d/bad.toml") }
        #expect(problems.count == Schema<Manifest>.problemLimit + 1)
        #expect(problems.first?.hasPrefix("apps.d/bad.toml:1:") == true)
        #expect(problems.last == "apps.d/bad.toml: 4980 more problems are not shown; correct the others first")
    }

    @Test func allProblemsTogetherHaveALimit() {
        var list = ProblemList()
        for number in 0..<3000 { list.add(Problem(file: "/\(number)", message: "x")) }
        let summary = list.summary(for: "/etc/lifed")
        #expect(summary.count == ProblemList.limit + 1)
        #expect(
            summary.last
                == Problem(file: "/etc/lifed", message: "2000 more problems are not shown; correct the others first"))
    }
}
