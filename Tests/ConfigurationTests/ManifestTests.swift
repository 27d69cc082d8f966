import Calendar
import Testing

@testable import Configuration

@Suite struct ManifestTests {
    @Test func everyKeyIsSet() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(
            """
            id = "org.example.app"
            name = "An app"
            command = ["sh", "-c", "exit"]
            user = "nobody"
            workingDirectory = "/tmp"
            suspend = "never"
            backgroundTime = "1s"
            terminateTimeout = "2s"
            launchTimeout = "3s"
            scenes = true
            sceneLimit = 3
            restart = "on-failure"
            onExit = "previous"
            launchAtStart = "background"
            reclaimWhenSuspended = true
            noNewPrivileges = true
            capabilities = ["CAP_CHOWN", "CAP_CHECKPOINT_RESTORE"]
            writablePaths = ["/var//lib/kiosk/", "/"]
            privateTmp = true
            schemes = ["HTTP", "x-a.b+c"]
            mimeTypes = ["text/plain", "Image/*"]
            [environment]
            LANG = "C"
            EMPTY = ""
            [[schedule]]
            at = "daily"
            kind = "fetch"
            [[schedule]]
            kind = "processing"
            jitter = "5min"
            at = "Mon 10:00"
            """,
            to: "apps.d/app.toml"
        )
        let program = try directory.makeProgram("bin/sh")
        let configuration = directory.load(searchPath: "relative::\(directory.path)/bin:/bin")
        #expect(directory.problems(configuration) == [])

        var expected = Manifest(id: "org.example.app", file: file, command: ["sh", "-c", "exit"], program: program)
        expected.name = "An app"
        expected.user = "nobody"
        expected.workingDirectory = "/tmp"
        expected.environment = ["LANG": "C", "EMPTY": ""]
        expected.suspend = .never
        expected.backgroundTime = .seconds(1)
        expected.terminateTimeout = .seconds(2)
        expected.launchTimeout = .seconds(3)
        expected.scenes = true
        expected.sceneLimit = 3
        expected.restart = .onFailure
        expected.onExit = .previous
        expected.launchAtStart = .background
        expected.reclaimWhenSuspended = true
        expected.noNewPrivileges = true
        expected.capabilities = [.chown, .checkpointRestore]
        expected.writablePaths = ["/var/lib/kiosk", "/"]
        expected.privateTmp = true
        expected.schemes = ["http", "x-a.b+c"]
        expected.mimeTypes = ["text/plain", "image/*"]
        var second = Schedule(at: try CalendarEvent("Mon 10:00"), kind: "processing")
        second.jitter = .seconds(300)
        expected.schedules = [Schedule(at: try CalendarEvent("daily"), kind: "fetch"), second]
        #expect(configuration.manifests == [expected])
    }

    @Test func theFileNameIsTheDefaultID() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['/bin/sh']", to: "apps.d/z.toml")
        try directory.write("command = ['/bin/sh']", to: "apps.d/a.b-c.toml")
        try directory.write("command = ['/bin/sh']", to: "apps.d/not an id.toml")
        let configuration = directory.load()
        #expect(configuration.manifests.map(\.id) == ["a.b-c", "z"])
        #expect(configuration.problems.map(\.file) == ["\(directory.path)/apps.d/not an id.toml"])
    }

    /// As linux/capability.h numbers them.
    @Test func capabilitiesHaveTheNumbersOfTheKernel() {
        #expect(Capability.bits(of: [.chown, .netBindService, .checkpointRestore]) == 1 | 1 << 10 | 1 << 40)
        #expect(Capability.bits(of: Set(Capability.allCases)) == 1 << 41 - 1)
    }

    @Test(arguments: [
        ("name = 'x'", #": command is missing; expected command = ["/path/to/program", "argument"]"#),
        (
            "\ncommand = 'sleep 5'",
            #":2: command: expected an array of strings, not run by a shell, found "sleep 5"; write command = ["sleep", "5"]"#
        ),
        (
            "command = []",
            ":1: command: expected an array of strings, the program and its arguments, found an empty array"
        ),
        (
            "command = ['sh', 5]",
            ":1: command: expected an array of strings, found the integer 5 as element 2"
        ),
        (
            "command = ['bin/sh']",
            ##":1: command: expected a program as the first element, an absolute path or a name to look up in PATH, found "bin/sh""##
        ),
        ("command = ['/no/such']", #":1: command: the program "/no/such" does not exist"#),
        ("command = ['no-such']", #":1: command: the program "no-such" does not exist in "/usr/bin:/bin""#),
        ("command = ['/etc/passwd']", #":1: command: the program "/etc/passwd" is not an executable file"#),
        ("command = ['/tmp']", #":1: command: the program "/tmp" is not an executable file"#),
        (
            "command = ['sh']\nid = '-x'",
            """
            :2: id: expected an app id (1 to 128 of A-Z a-z 0-9 . _ -, starting with neither . nor -), found "-x"
            """
        ),
        (
            "command = ['sh']\nworkingDirectory = '~'",
            #":2: workingDirectory: expected an absolute path (~ and variables are not expanded), found "~""#
        ),
        ("command = ['sh']\nsuspend = 'sometimes'", #":2: suspend: expected "auto" or "never", found "sometimes""#),
        ("command = ['sh']\nsuspend = false", #":2: suspend: expected "auto" or "never", found false"#),
        ("command = ['sh']\n[environment]\nA = 1", ":3: environment.A: expected a string, found the integer 1"),
        (
            "command = ['sh']\nenvironment = { 'A=B' = 'x' }",
            """
            :2: environment: "A=B" cannot be a variable; a variable's name is letters, digits and _, and starts with no \
            digit
            """
        ),
        ("comand = ['sh']", #":1: unknown key "comand"; did you mean "command"?"#),
        (
            "command = ['sh']\nname = \"a\\u001b[2Jb\"",
            #":2: name: expected a string of 1 to 256 characters without control characters, found "a\u{1B}[2Jb""#
        ),
        (
            "command = ['sh']\nrestart = 'sometimes'",
            #":2: restart: expected "never" or "on-failure" or "always", found "sometimes""#
        ),
        (
            "command = ['sh']\nreclaimWhenSuspended = 1",
            ":2: reclaimWhenSuspended: expected true or false, found the integer 1"
        ),
        (
            "command = ['sh']\ncapabilities = ['CAP_KILL', 'CAP_FLY']",
            #"""
            :2: capabilities: expected an array of capabilities of capabilities(7), such as ["CAP_NET_BIND_SERVICE"], \#
            found "CAP_FLY" as element 2
            """#
        ),
        (
            "command = ['sh']\nwritablePaths = ['/srv/../etc']",
            #"""
            :2: writablePaths: expected an array of absolute paths without "..", such as ["/var/lib/kiosk"], \#
            found "/srv/../etc" as element 1
            """#
        ),
        (
            "command = ['sh']\nschemes = ['http', 'https:']",
            """
            :2: schemes: expected an array of URL schemes without the colon, such as ["http", "https"], found "https:" \
            as element 2
            """
        ),
        (
            "command = ['sh']\nmimeTypes = ['text']",
            """
            :2: mimeTypes: expected an array of media types, such as ["text/plain", "image/*"], found "text" as element 1
            """
        ),
        (
            "command = ['sh']\nschedule = 'daily'",
            #":2: schedule: expected up to 64 tables, each [[schedule]], found "daily""#
        ),
        (
            "command = ['sh']\n[[schedule]]\nat = 'daily'\nkind = 'a'\n\n[[schedule]]\nat = 'daily'",
            #":6: schedule: kind is missing; expected kind = "fetch""#
        ),
        (
            "command = ['sh']\n[[schedule]]\nat = 'daily'\nkind = 'a'\n[[schedule]]\nat = 'daily'\nkind = 5",
            """
            :7: schedule[2].kind: expected a word of a-z, 0-9 and -, such as "fetch", found the integer 5
            """
        ),
        (
            "command = ['sh']\n[[schedule]]\nkind = 'a'\nat = 'Mon 25:00'",
            """
            :4: schedule[1].at: expected a calendar event as in systemd.time(7), found "Mon 25:00": expected hours from 0 \
            to 23 at character 5
            """
        ),
        (
            "command = ['sh']\nschedule = [{ at = 'daily', kind = 'a' },\n{ at = 'daily', kid = 'b' }]",
            #":3: schedule: unknown key "kid"; did you mean "kind"?"#
        ),
        ("command = ['sh']\nuser = 'a b'", #":2: user: expected the name of a user, found "a b""#),
    ])
    func mistakesAreExplained(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text, to: "apps.d/bad.toml")
        try directory.write("command = ['/bin/sh']", to: "apps.d/good.toml")
        let configuration = directory.load()
        #expect(directory.problems(configuration) == ["apps.d/bad.toml\(problem)"])
        #expect(configuration.manifests.map(\.id) == ["good"])
    }

    @Test func onlyTheSystemInstanceAcceptsAUser() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']\nuser = 'nobody'", to: "apps.d/a.toml")
        let configuration = directory.load(instance: .user)
        #expect(configuration.manifests == [])
        #expect(
            directory.problems(configuration) == [
                "apps.d/a.toml:2: user: only the system's daemon can start apps as another user"
            ]
        )
    }

    @Test func aSharedManifestWithAUserIsForTheSystemInstanceAlone() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']\nuser = 'nobody'", to: "etc/apps.d/a.toml")
        try directory.write("command = ['sh']", to: "etc/apps.d/b.toml")
        let configuration = directory.load(["etc", "home"], instance: .user)
        #expect(configuration.manifests.map(\.id) == ["b"] && configuration.problems == [])
        #expect(directory.load(["etc"]).manifests.map(\.id) == ["a", "b"])
    }

    @Test func aManifestMayBringItsOwnSearchPath() throws {
        let directory = try TemporaryDirectory()
        let program = try directory.makeProgram("opt/tool")
        try directory.write(
            "command = ['tool']\nenvironment = { PATH = '\(directory.path)/opt' }",
            to: "apps.d/a.toml"
        )
        #expect(directory.load().manifests.map(\.program) == [program])
    }
}
