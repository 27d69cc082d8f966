import ArgumentParser
import Testing

@testable import lifectl

@Suite struct GlobalOptionsTests {
    private func moved(_ words: String...) -> [String] { GlobalOptions.movedBehindCommand(words) }

    @Test func optionsMayStandBeforeTheCommand() throws {
        #expect(moved("--system", "list") == ["list", "--system"])
        #expect(
            moved("--socket", "/s", "--json", "scene", "list", "a") == [
                "scene", "list", "a", "--socket", "/s", "--json",
            ])
        #expect(moved("--timeout=3", "run", "--", "x", "--user") == ["run", "--timeout=3", "--", "x", "--user"])
        let command = try Lifectl.parseAsRoot(moved("--user", "focus", "a"))
        #expect((command as? Focus)?.options.user == true)
    }

    @Test func everythingElseStaysWhereItIs() {
        for words in [
            [], ["list", "--system"], ["--help"], ["--system"], ["--socket"], ["--socket", "/s"], ["--", "--user"],
        ] {
            #expect(GlobalOptions.movedBehindCommand(words) == words)
        }
    }
}

@Suite struct CompletionTests {
    private func typed(_ words: String..., completing index: Int? = nil) -> [String]? {
        TypedLine(words, completing: index ?? words.count - 1, environment: ["HOME": "/home/kim"]).arguments
    }

    @Test func aLineNamesItsDaemon() {
        #expect(typed("lifectl", "focus", "") == [])
        #expect(typed("lifectl", "focus", "--user", "") == ["--user"])
        #expect(typed("lifectl", "focus", "", "--system", completing: 2) == ["--system"])
        #expect(typed("lifectl", "focus", "--socket", "/a b", "x") == ["--socket", "/a b"])
        #expect(typed("lifectl", "focus", "--socket=/a=b", "x") == ["--socket", "/a=b"])
        // bash makes three words of it.
        #expect(typed("lifectl", "focus", "--socket", "=", "/a", "x") == ["--socket", "/a"])
        // What stands behind -- belongs to somebody else.
        #expect(typed("lifectl", "run", "--user", "--", "x", "--socket", "/a", "") == ["--user"])
    }

    @Test func whatCannotBeKnownIsNotGuessed() {
        #expect(typed("lifectl", "focus", "--host", "kim@kitchen", "") == nil)
        #expect(typed("lifectl", "--host=kitchen", "focus", "") == nil)
        #expect(typed("lifectl", "focus", "--socket", "$SOMEWHERE/control", "") == nil)
        #expect(typed("lifectl", "focus", "x", "--socket", completing: 2) == nil)
    }

    @Test func quotesMeanWhatTheyMeanToAShell() {
        for (word, meaning) in [
            ("~/a", "/home/kim/a"), ("'a b'", "a b"), ("\"a'b\"", "a'b"), ("a\\ b", "a b"), ("'$a'", "$a"),
            ("\u{301}\"", "\u{301}"), ("a\\", "a"),
        ] {
            #expect(TypedLine.meaning(of: word, environment: ["HOME": "/home/kim"]) == meaning, "\(word)")
        }
        for word in ["", "''", "~kim/a", "`a`", "\"$a\"", "a*"] {
            #expect(TypedLine.meaning(of: word, environment: ["HOME": "/home/kim"]) == nil, "\(word)")
        }
    }
}
