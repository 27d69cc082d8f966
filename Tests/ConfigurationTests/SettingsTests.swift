import LifecycleTypes
import TestSupport
import Testing

@testable import Configuration

@Suite struct SettingsTests {
    @Test func nothingAtAllIsTheDefaults() throws {
        let directory = try TemporaryDirectory()
        #expect(try directory.load() == LoadedConfiguration())
    }

    @Test func everyKeyIsSet() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            homeApp = "home"
            foregroundLimit = 2
            visible = "ignore"
            playing = "keep"
            timeouts = { willResignActive = "2s", didEnterBackground = "3s", termination = "4s" }
            [limits]
            clients = 7
            messageBytes = 5000
            monitorBytes = 6000
            clientsBytes = 2000000
            apps = 8
            processes = 300
            [access]
            administrators = ["root"]
            [memory]
            suspendedLimit = 3
            reclaimWhenSuspended = true
            """,
            to: "a/lifed.toml"
        )
        try directory.write(
            """
            timeouts.background = "500ms"
            timeouts.launch = 60
            timeouts.callback = 1.5
            "timeouts"."suspension" = "1min 30s"
            onExit = "previous"
            memory = { warning = 1, critical = 2, window = "500ms", minimumAvailable = "1.5G" }
            [resources.active]
            cpuWeight = 200
            nice = -5
            [resources.background]
            cpuWeight = "own"
            ioWeight = 1
            memoryLow = "64MiB"
            nice = "own"
            ioPriority = "idle"
            oomScoreAdjustment = -1
            timerSlack = "1ms"
            [resources]
            suspended.ioPriority = "realtime:3"
            """,
            to: "b/lifed.toml"
        )
        try directory.write("command = ['sh']", to: "a/apps.d/home.toml")
        let configuration = try directory.load(["a", "b"])
        #expect(directory.problems(configuration) == [])

        var expected = DaemonSettings()
        expected.homeApp = "home"
        expected.foregroundLimit = 2
        expected.timeouts.willResignActive = .seconds(2)
        expected.timeouts.didEnterBackground = .seconds(3)
        expected.timeouts.termination = .seconds(4)
        expected.timeouts.background = .milliseconds(500)
        expected.timeouts.launch = .seconds(60)
        expected.timeouts.callback = .milliseconds(1500)
        expected.timeouts.suspension = .seconds(90)
        expected.limits.clients = 7
        expected.limits.messageBytes = 5000
        expected.limits.monitorBytes = 6000
        expected.limits.clientsBytes = 2_000_000
        expected.limits.apps = 8
        expected.limits.processes = .number(300)
        expected.access.administrators = ["root"]
        expected.onExit = .previous
        expected.visible = .ignore
        expected.playing = .keep
        expected.memory.warning = 1
        expected.memory.critical = 2
        expected.memory.window = .milliseconds(500)
        expected.memory.minimumAvailable = 3 << 29
        expected.memory.suspendedLimit = 3
        expected.memory.reclaimWhenSuspended = true
        expected.resources.active.cpuWeight = 200
        expected.resources.active.nice = -5
        expected.resources.background = DaemonSettings.Resources.State()
        expected.resources.background.ioWeight = 1
        expected.resources.background.memoryLow = 64 << 20
        expected.resources.background.ioPriority = .idle
        expected.resources.background.oomScoreAdjustment = -1
        expected.resources.background.timerSlack = .milliseconds(1)
        expected.resources.suspended.ioPriority = .realTime(3)
        #expect(configuration.settings == expected)
    }

    @Test func higherDirectoriesReplaceKeyByKey() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            "foregroundLimit = 2\n[timeouts]\nlaunch = '1s'\nsuspension = '2s'", to: "vendor/lifed.toml")
        try directory.write("[timeouts]\nlaunch = '3s'", to: "etc/lifed.toml")
        let settings = try directory.load(["vendor", "etc"]).settings
        #expect(settings.foregroundLimit == 2)
        #expect(settings.timeouts.launch == .seconds(3))
        #expect(settings.timeouts.suspension == .seconds(2))
    }

    @Test func aBadValueLeavesTheLowerOneAndEverythingElse() throws {
        let directory = try TemporaryDirectory()
        try directory.write("foregroundLimit = 2", to: "vendor/lifed.toml")
        try directory.write(
            "foregroundLimit = 99\n[timeouts]\nlaunch = '3s'\nsuspension = 'soon'", to: "etc/lifed.toml")
        let configuration = try directory.load(["vendor", "etc"])
        #expect(configuration.settings.foregroundLimit == 2)
        #expect(configuration.settings.timeouts.launch == .seconds(3))
        #expect(configuration.settings.timeouts.suspension == DaemonSettings().timeouts.suspension)
        #expect(
            directory.problems(configuration) == [
                "etc/lifed.toml:1: cannot use foregroundLimit: found the integer 99; expected an integer from 1 to 16",
                """
                etc/lifed.toml:4: cannot use timeouts.suspension: found "soon"; expected a duration from 0s to 1d, \
                such as "5s", "500ms", "1min 30s", or a number of seconds
                """,
            ]
        )
    }

    @Test(arguments: [
        ("foregroundLimt = 2", #"1: cannot use "foregroundLimt": unknown key; did you mean "foregroundLimit"?"#),
        ("foreground_limit = 2", #"1: cannot use "foreground_limit": unknown key; did you mean "foregroundLimit"?"#),
        ("launch = '2s'", #"1: cannot use "launch": unknown key; did you mean "timeouts.launch"?"#),
        ("\n[limit]\napps = 2", #"2: cannot use "limit": unknown key; did you mean "limits"?"#),
        ("[timeouts]\n\nlunch = 2", #"3: cannot use "timeouts.lunch": unknown key; did you mean "timeouts.launch"?"#),
        ("timeouts = 5", "1: cannot use timeouts: found the integer 5; expected a table, [timeouts]"),
        ("foregroundLimit = '2'", #"1: cannot use foregroundLimit: found "2"; expected an integer from 1 to 16"#),
        (
            "[limits]\nprocesses = '101%'",
            #"2: cannot use limits.processes: found "101%"; expected an integer from 1 to 4194304, "1%" to "100%" or "infinity""#
        ),
        (
            "foregroundLimit = 1979-05-27",
            "1: cannot use foregroundLimit: found a date or a time; expected an integer from 1 to 16"
        ),
        (
            "foregroundLimit = 9223372036854775807",
            "1: cannot use foregroundLimit: found the integer 9223372036854775807; expected an integer from 1 to 16"
        ),
        (
            "[memory]\nminimumAvailable = '64 megs'",
            #"2: cannot use memory.minimumAvailable: found "64 megs"; expected a size, such as "512K", "64M", "1G", or a number of bytes"#
        ),
        (
            "memory.window = '20s'",
            #"1: cannot use memory.window: found "20s"; expected a duration from 500ms to 10s"#
        ),
        (
            "[resources.active]\nnice = 20",
            #"2: cannot use resources.active.nice: found the integer 20; expected "own" or an integer from -20 to 19"#
        ),
        (
            "[resources.background]\n\nioPriority = 'best-effort'",
            """
            3: cannot use resources.background.ioPriority: found "best-effort"; expected "own" or "idle", \
            "best-effort:0" to "best-effort:7" or "realtime:0" to "realtime:7"
            """
        ),
        (
            "[resources.front]\nnice = 1",
            """
            1: cannot use "resources.front": unknown key; known here: [resources.active], [resources.inactive], \
            [resources.background], [resources.suspended]
            """
        ),
        ("[[timeouts]]\nlaunch = 1", "1: cannot use timeouts: found an array; expected a table, [timeouts]"),
        (
            "defaults = 'x'",
            #"1: cannot use defaults: found "x"; expected a table of apps, { https = "org.example.browser" }"#
        ),
        (
            "[defaults]\n'no scheme' = 'a'",
            #"2: cannot use defaults: "no scheme" is neither a URL scheme nor a media type; expected one"#
        ),
        (
            "[defaults]\n'/plain' = 'a'",
            #"2: cannot use defaults: "/plain" is neither a URL scheme nor a media type; expected one"#
        ),
        (
            "helpers = ['tmux', '/usr/bin/screen']",
            """
            1: cannot use helpers: found "/usr/bin/screen" as element 2; expected an array of up to 64 names of program files, \
            such as ["dbus-daemon"]
            """
        ),
        (
            "access.administrators = ['a:b']",
            #"1: cannot use access.administrators: found "a:b" as element 1; expected an array of up to 64 names of groups, such as ["wheel"]"#
        ),
        (
            "memory.suspendedLimit = 99999999999999999999",
            """
            1: cannot parse the file: the integer "99999999999999999999" is too large; an integer has 64 bits; \
            ignoring the file
            """
        ),
        (
            "foregroundLimit = 0xffffffffffffffffff",
            """
            1: cannot parse the file: the integer "0xffffffffffffffffff" is too large; an integer has 64 bits; \
            ignoring the file
            """
        ),
        ("[defaults]\nhttps = 5", "2: cannot use defaults.https: found the integer 5; expected the id of an app"),
        ("[defaults]\n'text/*' = '-a'", #"2: cannot use defaults.text/*: found "-a"; expected the id of an app"#),
    ])
    func settingsMistakeIsReportedWithLineAndExpectation(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text, to: "lifed.toml")
        let configuration = try directory.load()
        #expect(directory.problems(configuration) == ["lifed.toml:\(problem)"])
        #expect(configuration.settings == DaemonSettings())
    }

    @Test func aFileThatIsNotTOMLIsLeftOutWithItsLine() throws {
        let directory = try TemporaryDirectory()
        try directory.write("foregroundLimit = 2", to: "vendor/lifed.toml")
        try directory.write("foregroundLimit = 3\n\nhomeApp = = 'x'\n", to: "etc/lifed.toml")
        let configuration = try directory.load(["vendor", "etc"])
        #expect(configuration.settings.foregroundLimit == 2)
        #expect(configuration.problems.map(\.line) == [3])
    }

    @Test func aHomeAppThatIsNotThereIsReportedWhereItIsNamed() throws {
        let directory = try TemporaryDirectory()
        try directory.write("# Home.\nhomeApp = 'nobody'", to: "lifed.toml")
        let configuration = try directory.load()
        #expect(
            directory.problems(configuration) == [
                #"lifed.toml:2: cannot use homeApp: no usable manifest has the id "nobody"; ignoring the key"#
            ])
        #expect(configuration.settings.homeApp == nil)
    }

    @Test func namesOfProgramsAndGroupsAreThoseThatTheMachineCanHave() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            #"""
            helpers = ["Xwayland", "my_prog", "a.out"]
            [access]
            administrators = ["root", "my_group", "_ssh", "Domain Admins", 'CORP\admins']
            """#, to: "lifed.toml")
        let configuration = try directory.load(instance: .user)
        #expect(directory.problems(configuration) == [])
        #expect(configuration.settings.helpers == ["Xwayland", "my_prog", "a.out"])
        #expect(configuration.settings.access.administrators.count == 5)
    }

    @Test func terminalThatIsNoArrayIsReportedWithItsOwnKey() throws {
        let directory = try TemporaryDirectory()
        try directory.write("terminal = 'foot -e'", to: "lifed.toml")
        #expect(
            try directory.problems(directory.load()) == [
                """
                lifed.toml:1: cannot use terminal: found "foot -e"; expected an array of strings, which no shell reads: \
                terminal = ["foot", "-e"]
                """
            ])
    }

    @Test func groupThatTheMachineDoesNotHaveIsReported() throws {
        let directory = try TemporaryDirectory()
        try directory.write("[access]\nadministrators = ['root', 'no_group_of_this_machine']", to: "lifed.toml")
        #expect(
            try directory.problems(directory.load()) == [
                """
                lifed.toml:2: cannot use access.administrators: the machine has no group "no_group_of_this_machine"; \
                add the group or correct the name
                """
            ])
        // A user's daemon has no administrators.
        #expect(try directory.load(instance: .user).problems == [])
    }

    @Test func homeAppOfSharedDirectoryIsThatOfTheSystem() throws {
        let directory = try TemporaryDirectory()
        try directory.write("homeApp = 'kiosk'\nforegroundLimit = 2", to: "etc/lifed.toml")
        try directory.write("command = ['/bin/true']\nid = 'kiosk'", to: "etc/apps.d/kiosk.toml")
        try directory.write("", to: "own/lifed.toml")
        let user = try directory.load(["etc", "own"], instance: .user)
        #expect(user.settings.homeApp == nil)
        #expect(user.settings.foregroundLimit == 2)
        #expect(try directory.load(["etc", "own"]).settings.homeApp == "kiosk")

        try directory.write("homeApp = 'kiosk'", to: "own/lifed.toml")
        #expect(try directory.load(["etc", "own"], instance: .user).settings.homeApp == "kiosk")
    }

    @Test func appsThatCannotAllLaunchInForegroundAreReported() throws {
        let directory = try TemporaryDirectory()
        for name in ["a", "b", "c"] {
            let text = "command = ['/bin/true']\nlaunchAtStart = 'foreground'\n"
            try directory.write(text, to: "apps.d/\(name).toml")
        }
        try directory.write("foregroundLimit = 2\n", to: "lifed.toml")
        let configuration = try directory.load()
        #expect(
            directory.problems(configuration) == [
                #"apps.d/a.toml:2: cannot launch a in the foreground: foregroundLimit is 2, and "b", "c" follow by id; launching it in the background"#
            ])
        #expect(configuration.manifests.allSatisfy { $0.launchAtStart == .foreground })
    }
}
