import TestSupport
import Testing

@testable import Configuration

/// Which programs are adopted, and what is wrong with what says so.
@Suite struct AdoptRuleTests {
    @Test func rulesAreReadInTheirOrder() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            [[adopt]]
            match = "firefox*"
            id = "org.mozilla.Firefox"
            [[adopt]]
            match = "/opt/*/viewer"
            cmdline = "* --kiosk*"
            """,
            to: "lifed.toml"
        )
        let configuration = try directory.load()
        #expect(directory.problems(configuration) == [])
        var firefox = AdoptRule(match: "firefox*")
        firefox.id = "org.mozilla.Firefox"
        var viewer = AdoptRule(match: "/opt/*/viewer")
        viewer.commandLine = "* --kiosk*"
        #expect(configuration.settings.adopt == [firefox, viewer])
    }

    /// As every other setting.
    @Test func thoseOfAHigherDirectoryReplaceThoseOfALowerOne() throws {
        let directory = try TemporaryDirectory()
        try directory.write("[[adopt]]\nmatch = 'a'\n[[adopt]]\nmatch = 'b'", to: "low/lifed.toml")
        try directory.write("[[adopt]]\nmatch = 'c'", to: "high/lifed.toml")
        #expect(try directory.load(["low", "high"]).settings.adopt.map(\.match) == ["c"])
    }

    @Test(arguments: [
        ("adopt = 'x'", #"lifed.toml:1: cannot use adopt: found "x"; expected up to 256 tables, each [[adopt]]"#),
        (
            "[[adopt]]\nid = 'x'",
            #"lifed.toml:1: cannot use adopt: match is missing; add match = "firefox" or match = "/opt/*/viewer""#
        ),
        (
            "[[adopt]]\nmatch = '**'",
            """
            lifed.toml:2: cannot use adopt[1].match: found "**"; expected a pattern of 1 to 1024 bytes that does not \
            fit everything, such as "firefox*"
            """
        ),
        (
            "[[adopt]]\nmatch = 'a'\n\n[[adopt]]\nmatch = 'b'\nname = 'c'",
            #"lifed.toml:6: cannot use "name" in adopt: unknown key; known here: match, cmdline, id"#
        ),
    ])
    func aMistakeIsToldWithItsLine(_ text: String, _ problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("\(text)\n", to: "lifed.toml")
        let configuration = try directory.load()
        #expect(directory.problems(configuration) == [problem])
        #expect(configuration.settings.adopt == [])
    }

    @Test func aPatternIsForTheNameOrForThePath() {
        let name = AdoptRule(match: "view*")
        #expect(name.matches(executable: "/usr/bin/viewer", name: "x", arguments: []))
        #expect(!name.matches(executable: "/view/editor", name: "viewer", arguments: []))
        // A program whose file may not be known goes by what the kernel calls it.
        #expect(name.matches(executable: nil, name: "viewer", arguments: []))
        let path = AdoptRule(match: "/opt/*/viewer")
        #expect(path.matches(executable: "/opt/a/b/viewer", name: "x", arguments: []))
        #expect(!path.matches(executable: nil, name: "/opt/a/viewer", arguments: []))
    }

    @Test func theArgumentsCountWhereTheRuleNamesThem() {
        var rule = AdoptRule(match: "python3*")
        rule.commandLine = "*/game.py*"
        #expect(
            rule.matches(executable: "/usr/bin/python3.11", name: "x", arguments: ["python3", "/srv/game.py", "-v"]))
        #expect(!rule.matches(executable: "/usr/bin/python3.11", name: "x", arguments: ["python3", "/srv/other.py"]))
    }

    // MARK: App units

    @Test func appsOfTheDesktopAreReadWithTheirPatterns() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            [desktop]
            manage = "all"
            allow = ["org.example.*"]
            deny = ["org.example.Call"]
            """,
            to: "lifed.toml"
        )
        let configuration = try directory.load()
        #expect(directory.problems(configuration) == [])
        var desktop = DaemonSettings.Desktop()
        desktop.manage = .all
        desktop.allow = ["org.example.*"]
        desktop.deny = ["org.example.Call"]
        #expect(configuration.settings.desktop == desktop)
    }

    @Test(arguments: [
        (
            "desktop.manage = 'some'",
            #"lifed.toml:1: cannot use desktop.manage: found "some"; expected "none" or "listed" or "all""#
        ),
        (
            "desktop.allow = ['a', '*']",
            """
            lifed.toml:1: cannot use desktop.allow[2]: found "*"; expected a pattern of 1 to 1024 bytes that does not fit \
            everything, such as "firefox*"
            """
        ),
        (
            "desktop.deny = 'a'",
            #"lifed.toml:1: cannot use desktop.deny: found "a"; expected an array of up to 256 patterns, such as ["org.example.*"]"#
        ),
    ])
    func wrongKeyOfTheDesktopIsReported(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text, to: "lifed.toml")
        let configuration = try directory.load()
        #expect(directory.problems(configuration) == [problem])
        #expect(configuration.settings.desktop == DaemonSettings.Desktop())
    }
}
