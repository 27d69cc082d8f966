import LifecycleDaemon
import Testing

@testable import CommandLineTable
@testable import lifed

private func parse(_ words: [String]) throws -> Arguments {
    try CommandLineParser.parse(words, of: .lifed)
}

@Suite struct OptionTableTests {
    @Test func lineWithEveryOptionMakesTheOptions() throws {
        let line = try parse(
            [
                "--user", "--runtime-directory=/r", "--state-directory", "/s", "--config-directory", "c=d",
                "--controllers",
            ]
                + ["--log-target", "console"])
        let options = Options(line)
        #expect(options.isUser && options.usesControllers && options.logTarget == .console)
        #expect(options.runtimeDirectory == "/r" && options.stateDirectory == "/s")
        #expect(options.configurationDirectory?.hasSuffix("/c=d") == true)
    }

    @Test func emptyLineMakesTheSystemsDaemon() throws {
        let options = Options(try parse([]))
        #expect(!options.isUser && !options.usesControllers && options.logTarget == .auto)
        #expect(options.runtimeDirectory == nil && options.stateDirectory == nil)
        #expect(options.configurationDirectory == nil)
    }

    @Test(arguments: [
        (["--usr"], "unknown option '--usr' (did you mean '--user'?)"),
        (["--controller"], "unknown option '--controller'"),
        (["-v"], "unknown option '-v'"),
        (["--log-target", "file"], "--log-target takes journal, console or auto, not 'file'"),
        (["--runtime-directory"], "missing value for '--runtime-directory <directory>'"),
        (["--state-directory", "--user"], "missing value for '--state-directory <directory>'"),
        (["--config-directory", ""], "--config-directory takes a path, not ''"),
        (["--config-directory="], "missing value for '--config-directory <directory>'"),
        (["--user=yes"], "the option '--user' does not take any value, but 'yes' was specified"),
        (["start"], "unexpected argument 'start'"),
        (["--", "--user"], "unexpected argument '--user'"),
    ])
    func mistakeIsNamed(words: [String], message: String) {
        let error = #expect(throws: UsageError.self) { try parse(words) }
        #expect(error?.message == "\(message); see 'lifed --help'")
    }

    private func printed(_ words: [String]) throws -> String {
        try parse(words).perform()
    }

    @Test(arguments: [["--help"], ["--user", "-h"], ["--check", "--help"]])
    func helpHasEveryOptionButTheHiddenOne(words: [String]) throws {
        let help = try printed(words)
        #expect(help.hasPrefix("Usage: lifed [--user] [--runtime-directory <directory>]"))
        let words = help.split { $0 == "\n" || $0 == " " }
        let shown = Verb.lifed.parameters().filter { !$0.isHidden }
        #expect(shown.allSatisfy { words.contains($0.title[...]) })
        #expect(help.contains("  -h, --help") && help.contains("\n  64  The command line is wrong.\n"))
        #expect(!help.contains("--controllers") && !help.contains("--complete"))
        #expect(!help.contains("Common options") && !help.contains("COMMAND"))
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func exampleIsRead() throws {
        let words = Verb.lifed.example.split(separator: " ").map(String.init)
        #expect(words.first == "lifed")
        #expect(try parse(Array(words.dropFirst())).has(.user))
    }

    @Test func tableHasEveryOptionButTheHiddenOne() throws {
        let lines = try printed(["--dump-table"]).split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("status\t") } == 5)
        #expect(lines.count { $0.hasPrefix("verb\tlifed\t") } == 1)
        #expect(lines.count { $0.hasPrefix("flag\t") || $0.hasPrefix("option\t") } == Verb.lifed.parameters().count - 1)
        #expect(lines.contains("flag\tuser\t\t\tRun as the daemon of this user instead of the system's.\t\t\t\t"))
    }

    @Test(arguments: [
        (["--log-target", ""], ["journal", "console", "auto"]), (["--log-target=c"], ["--log-target=console"]),
        (["--runtime-directory", "x"], [":files"]), (["--co"], ["--config-directory"]), (["x"], []),
        (["--user", "--us"], []),
    ])
    func wordsAreCompleted(words: [String], expected: [String]) throws {
        let lines = try printed(["--complete", "\(words.count)", "--", "lifed"] + words).split(separator: "\n")
        #expect(lines.map { String($0.prefix { $0 != "\t" }) } == expected)
    }
}
