import Testing

@testable import Configuration

@Suite struct SettingsTests {
    @Test func nothingAtAllIsTheDefaults() throws {
        let directory = try TemporaryDirectory()
        #expect(directory.load() == LoadedConfiguration())
    }

    @Test func everyKeyIsSet() throws {
        let directory = try TemporaryDirectory()
        try directory.write(
            """
            homeApp = "home"
            frontLimit = 2
            visible = "ignore"
            playing = "keep"
            timeouts = { willResignActive = "2s", didEnterBackground = "3s", willTerminate = "4s" }
            [limits]
            clients = 7
            messageBytes = 5000
            monitorBytes = 6000
            clientsBytes = 2000000
            apps = 8
            processes = 300
            [access]
            administrators = ["wheel"]
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
            "timeouts"."stop" = "1min 30s"
            onExit = "previous"
            memory = { warning = 1, critical = 2, window = "500ms", floor = "1.5G" }
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
        let configuration = directory.load(["a", "b"])
        #expect(directory.problems(configuration) == [])

        var expected = Settings()
        expected.homeApp = "home"
        expected.frontLimit = 2
        expected.timeouts.willResignActive = .seconds(2)
        expected.timeouts.didEnterBackground = .seconds(3)
        expected.timeouts.willTerminate = .seconds(4)
        expected.timeouts.background = .milliseconds(500)
        expected.timeouts.launch = .seconds(60)
        expected.timeouts.callback = .milliseconds(1500)
        expected.timeouts.stop = .seconds(90)
        expected.limits.clients = 7
        expected.limits.messageBytes = 5000
        expected.limits.monitorBytes = 6000
        expected.limits.clientsBytes = 2_000_000
        expected.limits.apps = 8
        expected.limits.processes = .number(300)
        expected.access.administrators = ["wheel"]
        expected.onExit = .previous
        expected.visible = .ignore
        expected.playing = .keep
        expected.memory.warning = 1
        expected.memory.critical = 2
        expected.memory.window = .milliseconds(500)
        expected.memory.floor = 3 << 29
        expected.memory.suspendedLimit = 3
        expected.memory.reclaimWhenSuspended = true
        expected.resources.active.cpuWeight = 200
        expected.resources.active.nice = -5
        expected.resources.background = Settings.Resources.State()
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
        try directory.write("frontLimit = 2\n[timeouts]\nlaunch = '1s'\nstop = '2s'", to: "vendor/lifed.toml")
        try directory.write("[timeouts]\nlaunch = '3s'", to: "etc/lifed.toml")
        let settings = directory.load(["vendor", "etc"]).settings
        #expect(settings.frontLimit == 2)
        #expect(settings.timeouts.launch == .seconds(3))
        #expect(settings.timeouts.stop == .seconds(2))
    }

    @Test func aBadValueLeavesTheLowerOneAndEverythingElse() throws {
        let directory = try TemporaryDirectory()
        try directory.write("frontLimit = 2", to: "vendor/lifed.toml")
        try directory.write("frontLimit = 99\n[timeouts]\nlaunch = '3s'\nstop = 'soon'", to: "etc/lifed.toml")
        let configuration = directory.load(["vendor", "etc"])
        #expect(configuration.settings.frontLimit == 2)
        #expect(configuration.settings.timeouts.launch == .seconds(3))
        #expect(configuration.settings.timeouts.stop == Settings().timeouts.stop)
        #expect(
            directory.problems(configuration) == [
                "etc/lifed.toml:1: frontLimit: expected an integer from 1 to 16, found the integer 99",
                """
                etc/lifed.toml:4: timeouts.stop: expected a duration from 0s to 1d, such as "5s", "500ms", \
                "1min 30s", or a number of seconds, found "soon"
                """,
            ]
        )
    }

    @Test(arguments: [
        ("frontLimt = 2", #"1: unknown key "frontLimt"; did you mean "frontLimit"?"#),
        ("front_limit = 2", #"1: unknown key "front_limit"; did you mean "frontLimit"?"#),
        ("launch = '2s'", #"1: unknown key "launch"; did you mean "timeouts.launch"?"#),
        ("\n[limit]\napps = 2", #"2: unknown key "limit"; did you mean "limits"?"#),
        ("[timeouts]\n\nlunch = 2", #"3: unknown key "timeouts.lunch"; did you mean "timeouts.launch"?"#),
        ("timeouts = 5", "1: timeouts: expected a table, [timeouts], found the integer 5"),
        ("frontLimit = '2'", #"1: frontLimit: expected an integer from 1 to 16, found "2""#),
        (
            "[limits]\nprocesses = '101%'",
            #"2: limits.processes: expected an integer from 1 to 4194304, "1%" to "100%" or "infinity", found "101%""#
        ),
        ("frontLimit = 1979-05-27", "1: frontLimit: expected an integer from 1 to 16, found a date or a time"),
        (
            "frontLimit = 9223372036854775807",
            "1: frontLimit: expected an integer from 1 to 16, found the integer 9223372036854775807"
        ),
        (
            "[memory]\nfloor = '64 megs'",
            #"2: memory.floor: expected a size, such as "512K", "64M", "1G", or a number of bytes, found "64 megs""#
        ),
        (
            "memory.window = '20s'",
            #"1: memory.window: expected a duration from 500ms to 10s, found "20s""#
        ),
        (
            "[resources.active]\nnice = 20",
            #"2: resources.active.nice: expected "own" or an integer from -20 to 19, found the integer 20"#
        ),
        (
            "[resources.background]\n\nioPriority = 'best-effort'",
            """
            3: resources.background.ioPriority: expected "own" or "idle", "best-effort:0" to "best-effort:7" or \
            "realtime:0" to "realtime:7", found "best-effort"
            """
        ),
        (
            "[resources.front]\nnice = 1",
            """
            1: unknown key "resources.front"; known here: [resources.active], [resources.inactive], \
            [resources.background], [resources.suspended]
            """
        ),
        ("[[timeouts]]\nlaunch = 1", "1: timeouts: expected a table, [timeouts], found an array"),
    ])
    func mistakesAreExplained(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text, to: "lifed.toml")
        let configuration = directory.load()
        #expect(directory.problems(configuration) == ["lifed.toml:\(problem)"])
        #expect(configuration.settings == Settings())
    }

    @Test func aFileThatIsNotTOMLIsLeftOutWithItsLine() throws {
        let directory = try TemporaryDirectory()
        try directory.write("frontLimit = 2", to: "vendor/lifed.toml")
        try directory.write("frontLimit = 3\n\nhomeApp = = 'x'\n", to: "etc/lifed.toml")
        let configuration = directory.load(["vendor", "etc"])
        #expect(configuration.settings.frontLimit == 2)
        #expect(configuration.problems.map(\.line) == [3])
    }

    @Test func aHomeAppThatIsNotThereIsReportedWhereItIsNamed() throws {
        let directory = try TemporaryDirectory()
        try directory.write("# Home.\nhomeApp = 'nobody'", to: "lifed.toml")
        let configuration = directory.load()
        #expect(
            directory.problems(configuration) == [#"lifed.toml:2: homeApp: no usable manifest has the id "nobody""#])
        #expect(configuration.settings.homeApp == nil)
    }

    @Test func homeAppOfSharedDirectoryIsThatOfTheSystem() throws {
        let directory = try TemporaryDirectory()
        try directory.write("homeApp = 'kiosk'\nfrontLimit = 2", to: "etc/lifed.toml")
        try directory.write("command = ['/bin/true']\nid = 'kiosk'", to: "etc/apps.d/kiosk.toml")
        try directory.write("", to: "own/lifed.toml")
        let user = directory.load(["etc", "own"], instance: .user)
        #expect(user.settings.homeApp == nil)
        #expect(user.settings.frontLimit == 2)
        #expect(directory.load(["etc", "own"]).settings.homeApp == "kiosk")

        try directory.write("homeApp = 'kiosk'", to: "own/lifed.toml")
        #expect(directory.load(["etc", "own"], instance: .user).settings.homeApp == "kiosk")
    }

    @Test func appsThatCannotAllLaunchInForegroundAreReported() throws {
        let directory = try TemporaryDirectory()
        for name in ["a", "b", "c"] {
            let text = "command = ['/bin/true']\nlaunchAtStart = 'foreground'\n"
            try directory.write(text, to: "apps.d/\(name).toml")
        }
        try directory.write("frontLimit = 2\n", to: "lifed.toml")
        let configuration = directory.load()
        #expect(
            directory.problems(configuration) == [
                #"apps.d/a.toml:2: launchAtStart: frontLimit is 2, and the last in the order of the ids have the front ("b", "c"); this one starts in the background"#
            ])
        #expect(configuration.manifests.allSatisfy { $0.launchAtStart == .foreground })
    }
}
