import ControlAPI
import Testing

@testable import CommandLineTable
@testable import lifectl

@Suite struct CompletionTests {
    /// Completes the last word, and leaves out the explanations.
    private func complete(_ words: String...) -> [String] {
        lines(words).map { $0.prefix { $0 != "\t" }.description }
    }

    private func lines(_ words: [String]) -> [String] {
        Completion(["lifectl"] + words, completing: words.count, of: .lifectl).lines
    }

    private static let nowhere = "/nowhere/control"

    @Test func verbsAreCompleted() {
        #expect(complete("foc") == ["focus"])
        #expect(complete("re") == ["restart", "resume", "reload", "reexec", "release"])
        #expect(complete("--json", "rele") == ["release"])
        #expect(complete("scene", "") == ["open", "focus", "background", "close", "list"])
        #expect(complete("help", "interrupt", "") == ["begin", "end"])
        #expect(complete("help", "list", "") == [])
        #expect(!complete("").contains("--complete"))
        #expect(complete("bogus-", "").contains("focus"))
    }

    @Test func optionsAreCompletedUnlessTheyAreGiven() {
        #expect(complete("log", "--fo") == ["--follow"])
        #expect(complete("log", "-f", "--fo") == [])
        #expect(complete("log", "--lines", "3", "--l") == [])
        #expect(complete("run", "--setenv", "A", "--set") == ["--setenv"])
        #expect(complete("--js") == ["--json"])
        #expect(complete("reload", "").prefix(3) == ["--quiet", "--no-wait", "--system"])
        #expect(complete("home", "--", "") == [])
    }

    @Test func valuesAreCompleted() {
        #expect(complete("stats", "--from", "") == ["journal", "daemon"])
        #expect(complete("stats", "--from", "d") == ["daemon"])
        #expect(complete("stats", "--from=d") == ["--from=daemon"])
        // bash makes three words of it.
        #expect(complete("stats", "--from", "=", "d") == ["daemon"])
        #expect(complete("log", "-n", "") == [])
        #expect(complete("adopt", "1").contains("1"))
    }

    @Test func namesOfFilesAreTheShells() {
        for words in [
            ["open", "x"], ["timeline", "--svg", ""], ["run", "--", "x"], ["run", "--", "a", "-"],
            ["interrupt", "--", "b"],
        ] {
            #expect(lines(words) == [Completion.files])
        }
    }

    @Test func daemonThatIsNotThereKnowsNothing() {
        #expect(complete("focus", "--socket", Self.nowhere, "x") == [])
        #expect(complete("open", "x", "--socket", Self.nowhere, "--app", "") == [])
        #expect(complete("scene", "focus", "--socket", Self.nowhere, "x") == [])
    }

    @Test func everyWordHasAnExplanation() {
        for words in [[""], ["scene", ""], ["log", "--"]] {
            let found = lines(words)
            #expect(!found.isEmpty && found.allSatisfy { $0.count { $0 == "\t" } == 1 && !$0.hasSuffix("\t") })
        }
    }

    private func choice(_ words: String..., completing index: Int? = nil) -> SocketPath.Choice? {
        let rest = Completion(words, completing: index ?? words.count - 1, of: .lifectl).rest
        return DaemonNames.options(of: rest) { $0 == "HOME" ? "/home/kim" : nil }?.choice
    }

    @Test func lineNamesItsDaemon() {
        #expect(choice("lifectl", "focus", "") == .automatic)
        #expect(choice("lifectl", "focus", "--user", "") == .user)
        #expect(choice("lifectl", "focus", "", "--system", completing: 2) == .system)
        #expect(choice("lifectl", "focus", "--socket", "'/a b'", "x") == .path("/a b"))
        #expect(choice("lifectl", "focus", "--socket=/a=b", "x") == .path("/a=b"))
        #expect(choice("lifectl", "focus", "--socket=~/a", "x") == .path("/home/kim/a"))
        #expect(choice("lifectl", "focus", "--socket", "=", "/a", "x") == .path("/a"))
        // The words after -- belong to another program.
        #expect(choice("lifectl", "run", "--user", "--", "x", "--socket", "/a", "") == .user)
    }

    @Test func daemonThatCannotBeKnownIsNotGuessed() {
        #expect(choice("lifectl", "focus", "--host", "kim@kitchen", "") == nil)
        #expect(choice("lifectl", "--host=kitchen", "focus", "") == nil)
        #expect(choice("lifectl", "focus", "--socket", "$SOMEWHERE/control", "") == nil)
        #expect(choice("lifectl", "focus", "x", "--socket", completing: 2) == nil)
    }

    @Test(arguments: [
        ("~/a", "/home/kim/a"), ("'a b'", "a b"), ("\"a'b\"", "a'b"), ("a\\ b", "a b"), ("'$a'", "$a"),
        ("\u{301}\"", "\u{301}"), ("a\\", "a"), ("", nil), ("''", nil), ("~kim/a", nil), ("`a`", nil), ("\"$a\"", nil),
        ("a*", nil),
    ])
    func quotesMeanTheSameAsToAShell(word: String, meaning: String?) {
        #expect(ShellWord.meaning(of: word) { $0 == "HOME" ? "/home/kim" : nil } == meaning)
    }
}
