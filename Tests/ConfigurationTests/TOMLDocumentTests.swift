import TestSupport
import Testing

@testable import Configuration

@Suite struct TOMLDocumentTests {
    @Test(arguments: [
        "", "a b", "\"", "\\", "\\u0041", "a\nb\r\t", "\u{1}\u{1F}\u{7F}", "\u{301}=", "'''", "\u{1F600}",
    ])
    func textThatIsWrittenIsReadAgain(text: String) throws {
        #expect(try TOMLDocument("a = \(text.toml)").root == ["a": .string(text)])
        #expect(try TOMLDocument("a = \([text: [text]].toml)").root == ["a": .table([text: .array([.string(text)])])])
    }

    @Test(arguments: [0, 1, 999, 1000, 1_500_000, 86_400_000_000])
    func durationThatIsWrittenIsReadAgain(microseconds: Int64) throws {
        let duration = Duration.microseconds(microseconds)
        let node = try #require(try TOMLDocument("a = \(duration.toml)").root["a"])
        #expect(try Kind.duration.read(node) == duration)
    }

    @Test func valuesOfEveryType() throws {
        let document = try TOMLDocument(
            """
            string = "a\\tb"
            integer = 0x7FFFFFFFFFFFFFFF
            float = -1e3
            boolean = true
            moments = [1979-05-27T07:32:00Z, 1979-05-27, 07:32:00, 1979-05-27T07:32:00]
            [table]
            array = [1, "two", [3.0], { four = 4 }]
            """
        )
        #expect(
            document.root == [
                "string": .string("a\tb"), "integer": .integer(.max), "float": .float(-1000), "boolean": .boolean(true),
                "moments": .array([.moment, .moment, .moment, .moment]),
                "table": .table([
                    "array": .array([
                        .integer(1), .string("two"), .array([.float(3)]), .table(["four": .integer(4)]),
                    ])
                ]),
            ]
        )
    }

    @Test(arguments: [
        ("a = 1\na = 2", 2), ("a = 9223372036854775808", 1), ("\na = 1979-13-01", 2), ("a = 1\n[a]", 2),
        ("a = 'x\nb = 1", 1), ("[a]\nb = tru", 2), ("a = \"\\ud800\"", 1), ("a = \"\u{7}\"", 1),
        ("\na = \"\\u0000\"", 2), ("\"\\U00000000\" = 1", 1),
    ])
    func defectsHaveTheirLine(text: String, line: Int) {
        let defect = #expect(throws: Defect.self) { try TOMLDocument(text) }
        #expect(defect?.line == line)
        #expect(defect?.message.isEmpty == false)
    }

    /// Mutations of a text that has everything in it. A crash is the failure; where a mutation is still TOML, every key has its
    /// line.
    @Test(arguments: 0..<16 as Range<UInt64>)
    func mutationsDoNotCrashAndEveryKeyHasItsLine(seed: UInt64) {
        let parts = [
            "\"", "'", "\"\"\"", "'''", "[", "]", "[[", "]]", "{", "}", ".", "=", ",", "#", "\n", "\r\n", "\\",
            "\\u0041",
            "a", "1", "0x", "_", "-", ":", "T", "e", "+", "inf", "true", " ", "\u{A0}", "é", "\u{FEFF}",
        ]
        var random = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            var text = Array(Self.sample.unicodeScalars)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let start = Int.random(in: 0..<text.count, using: &random)
                let end = min(text.count, start + Int.random(in: 0...3, using: &random))
                let part = parts.randomElement(using: &random) ?? ""
                text.replaceSubrange(start..<end, with: part.unicodeScalars)
            }
            check(String(String.UnicodeScalarView(text)), seed: seed)
        }
    }

    private func check(_ text: String, seed: UInt64) {
        guard let document = try? TOMLDocument(text) else { return }
        for path in Self.paths(in: .table(document.root), at: []) {
            #expect(document.line(of: path) != nil, "seed \(seed): no line for \(path) in \(text)")
        }
    }

    private static func paths(in node: TOMLNode, at path: [String]) -> [[String]] {
        switch node {
        case .table(let table): table.flatMap { [path + [$0.key]] + paths(in: $0.value, at: path + [$0.key]) }
        case .array(let elements):
            elements.enumerated().flatMap { paths(in: $1, at: path + [TOMLDocument.element($0 + 1)]) }
        default: []
        }
    }

    private static let sample = """
        id = "a" # comment
        'quoted' = 'literal'
        a.b."c d" = [ 1, 2.5, "x", [ { y = 1 } ], ] # trailing
        text = \"""one
        two \\
        three \"" four\"""
        raw = '''one
        two'''
        [table]
        key = { a = 1, b.c = "2" }
        when = 1979-05-27 07:32:00
        [table.sub]
        on = true
        [[list]]
        n = 0x10
        [[list]]
        n = 1_000
        """
}
