import ControlAPI
import Testing

@testable import CommandLineTable
@testable import lifectl

private func read(_ line: String) throws -> Arguments {
    try parse(line.split(separator: " ").map(String.init))
}

private func parse(_ words: [String]) throws -> Arguments {
    try CommandLineParser.parse(words, of: .lifectl)
}

@Suite struct CommandLineTests {
    @Test func verbIsFoundBehindAnotherAndBehindOptions() throws {
        #expect(try read("focus a").path.map(\.name) == ["lifectl", "focus"])
        #expect(try read("scene open a").path.map(\.name) == ["lifectl", "scene", "open"])
        let line = try read("--socket /s --json scene list --timeout=3 a")
        #expect(line.path.map(\.name) == ["lifectl", "scene", "list"] && line.app == "a")
        #expect(
            line.options == CallOptions(choice: .path("/s"), isJSON: true, explicitTimeout: .seconds(3)))
    }

    @Test func argumentMayHaveTheNameOfAVerb() throws {
        #expect(try read("focus help").app == "help")
        #expect(try read("focus focus").verb.name == "focus")
        #expect(try read("scene open list").app == "list")
    }

    @Test func optionsNameTheDaemonAndTheTime() throws {
        #expect(try read("monitor").options == CallOptions())
        #expect(try read("focus a --system").options.choice == .system)
        #expect(try read("--user focus a").options.choice == .user)
        #expect(try read("focus a --socket /s --socket /t").options.choice == .path("/t"))
        #expect(try read("focus a --timeout 0.5").options.timeout == .milliseconds(500))
    }

    @Test func valueIsTheNextWordOrBehindAnEqualsSign() throws {
        for line in ["log --lines 3 -f", "log --lines=3 --follow", "log -n 3 -f", "log -n=3 -f"] {
            let log = try read(line)
            #expect(log.number(.lines) == 3 && log.has(.follow) && log[.app] == nil)
        }
        #expect(try read("launch a --wait=answered").word(.wait, of: APIWaitGoal.self) == .answered)
        #expect(try parse(["run", "--setenv=A=b=c", "--", "x"])[.setenv] == "A=b=c")
        #expect(try parse(["run", "--setenv", "A=\u{301}", "--", "x"])[.setenv] == "A=\u{301}")
    }

    @Test(arguments: ["log -fn 3", "log -fn3", "log -fn=3", "log -n3 -f"])
    func lettersMayShareAHyphen(line: String) throws {
        let log = try read(line)
        #expect(log.number(.lines) == 3 && log.has(.follow) && log[.app] == nil)
    }

    @Test func verbTakesSeveralApps() throws {
        #expect(try read("terminate a b --quiet c").all(.app) == ["a", "b", "c"])
        #expect(try read("background a b").options.isQuiet == false)
        #expect(try read("kill -q a --no-wait").options == CallOptions(isQuiet: true, waits: false))
    }

    @Test func interruptTakesACommandOrAVerb() throws {
        let run = try read("interrupt --name x -- sh -c begin")
        #expect(run.path.map(\.name) == ["lifectl", "interrupt"])
        #expect(run.all(.command) == ["sh", "-c", "begin"] && run[.name] == "x")
        #expect(try read("interrupt begin --name x").path.map(\.name) == ["lifectl", "interrupt", "begin"])
        #expect(try read("interrupt").verb.name == "help")
    }

    @Test(arguments: [
        ("HUP", 1), ("sighup", 1), ("SIGUSR1", 10), ("64", 64), ("CONT", 18), ("0", nil), ("65", nil), ("SIGNOPE", nil),
        ("", nil), ("-1", nil),
    ])
    func signalIsANameOrANumber(word: String, number: Int64?) {
        #expect(SignalName.parse(word) == number)
    }

    @Test func repeatedOptionHasAllItsValues() throws {
        #expect(try read("run --setenv A --setenv B=1 -- x").all(.setenv) == ["A", "B=1"])
    }

    @Test func wordsBehindTheTerminatorAreNoOptions() throws {
        let run = try read("run --id x --json -- sh -c --json -- --help")
        #expect(run.all(.command) == ["sh", "-c", "--json", "--", "--help"])
        #expect(run[.id] == "x" && run.options.isJSON)
        #expect(try read("focus -- -a").app == "-a")
        #expect(try read("focus -").app == "-")
        #expect(!(try read("focus -- --user").options.choice == .user))
    }

    @Test(arguments: ["", "--help", "-h", "help", "help help --help"])
    func helpOfLifectlIsAskedFor(line: String) throws {
        #expect(try read(line).verb.name == "help")
    }

    @Test(arguments: [
        "help scene open", "scene open --help", "scene open a -h --bogus", "scene --json open --help",
        "scene open a -qh",
    ])
    func helpOfAVerbIsAskedFor(line: String) throws {
        let help = try read(line)
        #expect(help.verb.name == "help" && help.all(.verb) == ["scene", "open"])
    }

    static let mistakes = [
        "bogus": "unknown command 'bogus'; see 'lifectl --help'",
        "lsit": "unknown command 'lsit' (did you mean 'list'?); see 'lifectl --help'",
        "foc a": "unknown command 'foc' (did you mean 'focus'?); see 'lifectl --help'",
        "scene bogus a": "unknown command 'bogus'; see 'lifectl help scene'",
        "scene opne a": "unknown command 'opne' (did you mean 'open'?); see 'lifectl help scene'",
        "--json": "missing command; see 'lifectl --help'",
        "-- list": "missing command; see 'lifectl --help'",
        "--bogus list": "unknown option '--bogus'; see 'lifectl --help'",
        "focus a --jsno": "unknown option '--jsno' (did you mean '--json'?); see 'lifectl help focus'",
        "log --fol": "unknown option '--fol' (did you mean '--follow'?); see 'lifectl help log'",
        "log -x": "unknown option '-x'; see 'lifectl help log'",
        "log -fx": "unknown option '-x'; see 'lifectl help log'",
        "adopt -5": "unknown option '-5'; see 'lifectl help adopt'",
        "focus": "missing expected argument '<app>'; see 'lifectl help focus'",
        "scene open": "missing expected argument '<app>'; see 'lifectl help scene open'",
        "wake a": "missing expected argument '--for <kind>'; see 'lifectl help wake'",
        "focus a b": "unexpected argument 'b'; see 'lifectl help focus'",
        "list -- x": "unexpected argument 'x'; see 'lifectl help list'",
        "focus a --wait": "missing value for '--wait <goal>'; see 'lifectl help focus'",
        "focus a --wait --json": "missing value for '--wait <goal>'; see 'lifectl help focus'",
        "focus a --timeout -1":
            "missing value for '--timeout <seconds>' (a value with a hyphen follows '=': --timeout=-1); "
            + "see 'lifectl help focus'",
        "focus a --socket=": "missing value for '--socket <path>'; see 'lifectl help focus'",
        "focus a --json=1":
            "the option '--json' does not take any value, but '1' was specified; see 'lifectl help focus'",
        "focus a --wait never": "--wait takes active or answered, not 'never'; see 'lifectl help focus'",
        "focus a --timeout=-1":
            "--timeout takes a positive number of seconds, not '-1'; see 'lifectl help focus'",
        "focus a --timeout nan":
            "--timeout takes a positive number of seconds, not 'nan'; see 'lifectl help focus'",
        "adopt 0": "<pid> takes the number of a process, which is 1 to 2147483647, not '0'; see 'lifectl help adopt'",
        "adopt x": "<pid> takes the number of a process, which is 1 to 2147483647, not 'x'; see 'lifectl help adopt'",
        "explain a --last=-1": "--last takes a number of events, not '-1'; see 'lifectl help explain'",
        "log -n=-3": "--lines takes a number of lines, not '-3'; see 'lifectl help log'",
        "top -n 0": "--count takes a number of updates, not '0'; see 'lifectl help top'",
        "top --interval 0": "--interval takes 0.1 to 3600 seconds, not '0'; see 'lifectl help top'",
        "stats --since bogus": "--since takes \(TimeArgument.words), not 'bogus'; see 'lifectl help stats'",
        "stats --from x": "--from takes journal or daemon, not 'x'; see 'lifectl help stats'",
        "handoff a --activity b --info x":
            "--info takes a JSON text, such as '{\"page\": 4}', not 'x'; see 'lifectl help handoff'",
        "scene open a --role ä":
            "--role takes 1 to 64 letters, digits, '.', '_' and '-' of ASCII, not 'ä'; see 'lifectl help scene open'",
        "run --setenv ==x -- y": "--setenv takes NAME or NAME=VALUE, not '==x'; see 'lifectl help run'",
        "run sleep 3": "the command belongs after --, as in: \(runExample); see 'lifectl help run'",
        "run --": "the command belongs after --, as in: \(runExample); see 'lifectl help run'",
        "run x -- y": "the command belongs after --, as in: \(runExample); see 'lifectl help run'",
        "focus a --user --system": "--system, --user and --socket exclude one another; see 'lifectl help focus'",
        "--user focus a --socket /s": "--system, --user and --socket exclude one another; see 'lifectl help focus'",
        "list --ids --json": "--ids and --json exclude one another; see 'lifectl help list'",
        "list --ids --helpers": "--helpers and --ids exclude one another; see 'lifectl help list'",
        "list --available --helpers": "--available and --helpers exclude one another; see 'lifectl help list'",
        "launch a --wait active --no-wait": "--wait and --no-wait exclude one another; see 'lifectl help launch'",
        "focus a --no-wait --wait active": "--wait and --no-wait exclude one another; see 'lifectl help focus'",
        "open a:b --type bad": "--type takes a media type, such as text/html, not 'bad'; see 'lifectl help open'",
        "status --pid 9999999999999":
            "--pid takes the number of a process, which is 1 to 2147483647, not '9999999999999'; "
            + "see 'lifectl help status'",
        "status a --pid 1": "<app> and --pid exclude one another; see 'lifectl help status'",
        "kill a --signal NOPE":
            "--signal takes a signal, such as HUP, SIGUSR1 or 10, not 'NOPE'; see 'lifectl help kill'",
        "simulate flood": "unknown command 'flood'; see 'lifectl help simulate'",
        "interrupt --name x": "missing command; see 'lifectl help interrupt'",
        "interrupt --":
            "the command belongs after --, as in: lifectl interrupt -- aplay ring.wav; see 'lifectl help interrupt'",
        "scene list --ids --json": "--ids and --json exclude one another; see 'lifectl help scene list'",
        "timeline --svg a --json": "--svg and --json exclude one another; see 'lifectl help timeline'",
        "stats --openmetrics --from daemon":
            "--openmetrics and --from exclude one another; see 'lifectl help stats'",
    ]

    private static let runExample = "lifectl run --id org.example.Busy -- sh -c 'while :; do :; done'"

    @Test(arguments: mistakes.keys.sorted())
    func mistakeIsBadUsageAndNamed(line: String) throws {
        let error = #expect(throws: UsageError.self) { try read(line) }
        #expect(error?.message == Self.mistakes[line])
    }

    @Test(arguments: [
        ["run", "--", ""]: "the name of the program is empty; see 'lifectl help run'",
        ["interrupt", "--", ""]: "the name of the program is empty; see 'lifectl help interrupt'",
        ["simulate", "memory", "normal", "--all"]:
            "--all goes with critical; see 'lifectl help simulate memory'",
        ["list", "--all"]: "--all goes with --available; see 'lifectl help list'",
        ["help", "scene", "opn"]: "unknown command 'opn' (did you mean 'open'?); see 'lifectl help scene'",
        ["help", "list", "x"]: "unknown command 'x'; see 'lifectl help list'",
    ])
    func mistakeThatAVerbFindsIsBadUsage(words: [String], message: String) throws {
        let arguments = try parse(words)
        let error = #expect(throws: UsageError.self) { try arguments.perform() }
        #expect(error?.message == message)
    }

    @Test(arguments: [
        ["launch", ""]: "<app> takes the id of an app, not ''; see 'lifectl help launch'",
        ["kill", "a", ""]: "<app> takes the id of an app, not ''; see 'lifectl help kill'",
        ["open", "a:b", "--app", ""]: "--app takes the id of an app, not ''; see 'lifectl help open'",
        ["open", ""]: "<url> takes a URL, or the path of a file, not ''; see 'lifectl help open'",
        ["timeline", "--svg", ""]: "--svg takes a path, not ''; see 'lifectl help timeline'",
    ])
    func emptyNameIsBadUsage(words: [String], message: String) throws {
        let error = #expect(throws: UsageError.self) { try parse(words) }
        #expect(error?.message == message)
    }

    @Test(arguments: ["a", "a/", "/b", "a/main/x", "a/ä"])
    func sceneOfAnotherFormIsBadUsage(word: String) {
        let failure = #expect(throws: Failure.self) { try SceneName(word) }
        #expect(failure?.status == .usage)
        #expect(failure?.reason.hasPrefix("it is not APP/SCENE, where SCENE is 1 to 64 letters") == true)
    }

    @Test func emptyWordIsAValueAndNoOption() throws {
        let noPath = #expect(throws: UsageError.self) { try parse(["list", "--socket", ""]) }
        #expect(noPath?.message == "--socket takes a path, not ''; see 'lifectl help list'")
        let noVerb = #expect(throws: UsageError.self) { try parse([""]) }
        #expect(noVerb?.message == "unknown command ''; see 'lifectl --help'")
        #expect(try parse(["run", "--id", "", "--", "x"])[.id] == "")
    }
}

@Suite struct VerbTableTests {
    /// The verbs that do something, after those that they belong to.
    static let paths = leaves(of: [.lifectl])

    private static func leaves(of path: [Verb]) -> [[Verb]] {
        let verb = path[path.count - 1]
        return verb.groups().isEmpty ? [path] : verb.shownVerbs.flatMap { leaves(of: path + [$0]) }
    }

    @Test func everyVerbHasASummaryAndAnExampleThatIsRead() throws {
        #expect(Self.paths.count > 35)
        for path in Self.paths {
            let (verb, words) = (path[path.count - 1], path.dropFirst().map(\.name))
            #expect(verb.summary.last == "." && verb.summary.first?.isUppercase == true, "\(words)")
            let example = try Self.words(of: verb.example)
            #expect(example.first == "lifectl")
            #expect(try parse(Array(example.dropFirst())).path.map(\.name) == path.map(\.name))
        }
    }

    /// The words of an example, as a shell sees them.
    private static func words(of example: String) throws -> [String] {
        var words = [""]
        var isQuoted = false
        for character in example.replacing("$(pgrep -n viewer)", with: "4711") {
            switch character {
            case "'": isQuoted.toggle()
            case " " where !isQuoted: words.append("")
            default: words[words.count - 1].append(character)
            }
        }
        return words
    }

    @Test func namesOfOneLineAreDistinct() {
        for path in Self.paths {
            let names = path[path.count - 1].parameters().map(\.name) + Verb.lifectl.parameters().map(\.name)
            #expect(Set(names).count == names.count, "\(names)")
            let letters = path[path.count - 1].parameters().compactMap(\.letter)
            #expect(Set(letters).count == letters.count && !letters.contains("h"))
        }
        for verb in [Verb.lifectl] + Verb.lifectl.shownVerbs {
            let names = verb.groups().flatMap { $0.verbs() }.map(\.name)
            #expect(Set(names).count == names.count)
        }
    }

    @Test func helpFitsATerminalAndNamesEveryOption() {
        for path in Self.paths + [[.lifectl]] {
            let text = Help.text(of: path)
            let tooLong = text.split(separator: "\n").filter { $0.count > 80 && !$0.hasPrefix("  lifectl ") }
            #expect(tooLong.isEmpty)
            let words = text.split { $0 == "\n" || $0 == " " }
            for parameter in path[path.count - 1].parameters() {
                #expect(words.contains(parameter.form.prefix { $0 != " " }))
            }
            #expect(text.contains("Common options:\n  --system "))
        }
    }

    @Test func summaryOfAVerbIsOneLineOfTheHelp() {
        for path in [[.lifectl]] + Self.parents {
            let text = Help.text(of: path)
            for verb in path[path.count - 1].shownVerbs {
                #expect(text.split(separator: "\n").contains { $0.hasSuffix("  \(verb.summary)") }, "\(verb.name)")
            }
        }
    }

    /// The verbs that others follow.
    private static let parents: [[Verb]] = Verb.lifectl.shownVerbs.filter { !$0.shownVerbs.isEmpty }
        .map { [.lifectl, $0] }

    @Test func verbThatChangesSomethingHasTheOptionsForIt() {
        let others: Set = [
            "list", "status", "cat", "edit", "explain", "log", "monitor", "top", "timeline", "stats", "doctor",
        ]
        for path in Self.paths where !others.contains(path[path.count - 1].name) {
            #expect(
                path[path.count - 1].parameters().map(\.name).suffix(2) == [.quiet, .noWait], "\(path.map(\.name))")
        }
    }

    @Test func exitCodesAreATopicOfTheHelp() throws {
        let text = try read("help exit-codes").perform()
        for status in ExitCode.allCases { #expect(text.contains(" \(status.rawValue)  ")) }
        #expect(text.contains("\n  66  no such app, scene, process of an app, or file (EX_NOINPUT)\n"))
        #expect(!Help.text(of: [.lifectl]).contains("EX_NOINPUT"))
    }

    @Test func helpOfLifectlHasTheGroups() {
        let text = Help.text(of: [.lifectl])
        for group in ["Apps", "Foreground", "Inspect", "System", "Integrate"] {
            #expect(text.contains("\n\n\(group):\n  "))
        }
        #expect(!text.contains("--complete") && !text.contains("--dump-table"))
    }

    @Test func documentHasEveryVerbAndItsParameters() {
        let lines = TableDocument.text(of: .lifectl).split(separator: "\n")
        #expect(lines.count { $0.hasPrefix("verb\t") && $0.count { $0 == "\t" } == 5 } == Self.paths.count + 4)
        #expect(
            lines.contains {
                $0
                    == "option\tsetenv\t\tname[=value]\tSet a variable of the command's environment, or take it from this "
                    + "one. Can be given several times.\t\t\t\trepeating"
            })
        #expect(lines.contains { $0.hasPrefix("command\tcommand\t") && $0.hasSuffix("\trequired\trepeating") })
        #expect(lines.contains { $0.hasPrefix("flag\tfollow\tf\t\t") })
        #expect(lines.contains { $0.hasPrefix("option\tfrom\t\tplace\t") && $0.contains("\tjournal daemon\t") })
    }
}

@Suite struct SuggestionTests {
    @Test(arguments: [
        ("list", "list"), ("lis", "list"), ("lst", "list"), ("lsit", "list"), ("lisst", "list"), ("liat", "list"),
        ("backgrond", "background"), ("back", "background"), ("", nil), ("xyz", nil), ("l", "list"),
        ("tsil", nil),
    ])
    func likeliestWordIsFound(word: String, expected: String?) {
        let message = Arguments(of: .lifectl).unknown("word", word, among: ["background", "list", "focus"]).message
        let hint = expected.map { " (did you mean '\($0)'?)" } ?? ""
        #expect(message == "unknown word '\(word)'\(hint); see 'lifectl --help'")
    }
}
