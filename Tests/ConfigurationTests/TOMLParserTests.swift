import Testing

@testable import Configuration

@Suite struct TOMLParserTests {
    private func read(_ text: String) throws(Defect) -> TOMLDocument {
        try TOMLDocument(text)
    }

    @Test func keysAreFoundWhereverTheyStand() throws {
        let document = try read(
            """
            a = 1 # b = 2
            "quoted.key" = '[x]'
            dotted . 'key' = [
              "# no comment", # comment ]
              { inner = 1 },
            ]
            [table]
              key = {x = 1, y.z = "}"}
            text = \"""
            fake = 1
            [fake] \\\""" still ""\\
            \"""
            literal = '''
            fake = 2 '' ''''
            [ table . sub ]
            date = 1979-05-27 07:32:00
            [[list]]
            key = 1
            [[list]]
            key = 2
            """
        )
        #expect(document.line(of: ["a"]) == 1)
        #expect(document.line(of: ["b"]) == nil)
        #expect(document.line(of: ["quoted.key"]) == 2)
        #expect(document.line(of: ["dotted", "key"]) == 3)
        #expect(document.line(of: ["dotted", "key", "[2]", "inner"]) == 5)
        #expect(document.line(of: ["table"]) == 7)
        #expect(document.line(of: ["table", "key", "x"]) == 8)
        #expect(document.line(of: ["table", "key", "y", "z"]) == 8)
        #expect(document.line(of: ["table", "text"]) == 9)
        #expect(document.line(of: ["fake"]) == nil)
        #expect(document.line(of: ["table", "literal"]) == 13)
        #expect(document.line(of: ["table", "sub", "date"]) == 16)
        #expect(document.line(of: ["list"]) == 17)
        #expect(document.line(of: ["list", "[1]", "key"]) == 18)
        #expect(document.line(of: ["list", "[2]"]) == 19)
        #expect(document.line(of: ["list", "[2]", "key"]) == 20)
    }

    @Test func aHeaderMeansTheLastElement() throws {
        let document = try read("[[a]]\n[a.b]\nc = 1\n[[a]]\n[[a.d]]\n[[a.d]]\ne = 1")
        #expect(document.line(of: ["a", "[1]", "b", "c"]) == 3)
        #expect(document.line(of: ["a", "[2]", "d", "[2]", "e"]) == 7)
        #expect(document.line(of: ["a", "[2]", "b"]) == 4)
    }

    @Test func aKeyThatIsNotThereHasTheLineOfItsTable() throws {
        #expect(try read("\n[a.b]").line(of: ["a", "b", "c", "d"]) == 2)
        #expect(try read("\n[a.b]").line(of: ["c"]) == nil)
    }

    @Test func escapesInKeysAreRead() throws {
        let document = try read(#""\u0061\u0062\U00000063\"" = 1"#)
        #expect(document.line(of: [#"abc""#]) == 1)
    }

    @Test func windowsLinesAndAByteOrderMarkAreFine() throws {
        let document = try read("\u{FEFF}a = 1\r\n\r\nb = [\r\n]\r\n")
        #expect(document.line(of: ["b"]) == 3)
    }

    @Test(arguments: [
        "a" + String(repeating: ".a", count: 10_000) + " = 1",
        "[a" + String(repeating: ".a", count: 10_000) + "]",
        "[[" + String(repeating: "'a' . ", count: 10_000) + "a]]",
        "a = " + String(repeating: "[", count: 10_000),
        "a = " + String(repeating: "{ a = ", count: 10_000),
        "a = " + String(repeating: "[{a.b=", count: 10_000),
    ])
    func deepNestingIsRefused(text: String) {
        let defect = Defect(
            line: 1, cannot: "parse the file", "values are nested deeper than 32 levels", remedy: "ignoring the file")
        #expect(throws: defect) { try read(text) }
    }

    @Test(arguments: [
        ("a", 1, "= after the key"), ("=", 1, "a key"), ("a = ", 1, "a value"), ("a = 'x' b", 1, "the end of the line"),
        ("\n[a\n]", 2, "] at the end"), ("\n[[a]", 2, "]] at the end"), ("[]", 1, "a key"),
        ("a = 'x\n'", 1, "a string"),
        ("a = \"x\\", 1, "a string"), ("a = ['1' 2]", 1, "a comma or ]"), ("a = '\''x\n\n", 3, "a string"),
        ("a = \"\\q\"", 1, "unknown escape"), ("a = \"\\u12\"", 1, "unknown escape"), ("a = {b}", 1, "= after"),
        ("a\n= 1", 1, "= after"), ("a = \"\\U00110000\"", 1, "unknown escape"), ("a..b = 1", 1, "a key"),
        ("é = 1", 1, "a key"), ("a = 1\rb", 1, "the end of the line"), ("a = {,}", 1, "a key"),
        ("a = 1979-05-27 0", 1, "no value"), ("a = yes", 1, "no value"),
    ])
    func mistakeIsNamed(text: String, line: Int, words: String) {
        let defect = #expect(throws: Defect.self) { try read(text) }
        #expect(defect?.line == line)
        #expect(defect?.message.contains(words) == true, "\(defect?.message ?? "")")
    }

    @Test(arguments: ["\0", "a = '\0'", "#\0", "a\0 = 1", "a = 1\0", "a = \"\\u0000\"", "\"\\U00000000\" = 1"])
    func aNULIsRefused(text: String) {
        #expect(throws: Defect.self) { try read(text) }
    }
}
