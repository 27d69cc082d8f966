import LifecycleTypes
import TestSupport
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
            stopMode = "all"
            backgroundTime = "1s"
            terminationTimeout = "2s"
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
            """,
            to: "apps.d/app.toml"
        )
        try directory.makeProgram("bin/sh")
        let configuration = try directory.load(searchPath: "relative::\(directory.path)/bin:/bin")
        #expect(directory.problems(configuration) == [])

        var expected = Manifest(id: "org.example.app", file: file, command: ["sh", "-c", "exit"])
        expected.name = "An app"
        expected.user = "nobody"
        expected.workingDirectory = "/tmp"
        expected.environment = ["LANG": "C", "EMPTY": ""]
        expected.suspend = .never
        expected.stopMode = .all
        expected.backgroundTime = .seconds(1)
        expected.terminationTimeout = .seconds(2)
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
        #expect(configuration.manifests == [expected])
    }

    @Test func theFileNameIsTheDefaultID() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['/bin/sh']", to: "apps.d/z.toml")
        try directory.write("command = ['/bin/sh']", to: "apps.d/a.b-c.toml")
        try directory.write("command = ['/bin/sh']", to: "apps.d/not an id.toml")
        let configuration = try directory.load()
        #expect(configuration.manifests.map(\.id) == ["a.b-c", "z"])
        #expect(configuration.problems.map(\.file) == ["\(directory.path)/apps.d/not an id.toml"])
    }

    /// As linux/capability.h numbers them.
    @Test func capabilitiesHaveTheNumbersOfTheKernel() {
        #expect(Capability.bits(of: [.chown, .netBindService, .checkpointRestore]) == 1 | 1 << 10 | 1 << 40)
        #expect(Capability.bits(of: Set(Capability.allCases)) == 1 << 41 - 1)
    }

    @Test(arguments: [
        (
            "name = 'x'",
            #": cannot use the manifest: it has no command; add command = ["/path/to/program", "argument"]"#
        ),
        (
            "\ncommand = 'sleep 5'",
            #":2: cannot use command: found "sleep 5"; expected an array of strings, which no shell reads: command = ["sleep", "5"]"#
        ),
        (
            "command = []",
            ":1: cannot use command: found an empty array; expected an array of strings, the program and its arguments"
        ),
        (
            "command = ['sh', 5]",
            ":1: cannot use command: found the integer 5 as element 2; expected an array of strings"
        ),
        (
            "command = ['bin/sh']",
            ##":1: cannot use command: found "bin/sh"; expected a program as the first element, an absolute path or a name to look up in PATH"##
        ),
        (
            "command = ['/no/such']",
            #":1: cannot use command: the program "/no/such" does not exist; install it or change the key"#
        ),
        (
            "command = ['no-such']",
            #":1: cannot use command: the program "no-such" does not exist in "/usr/bin:/bin"; install it or change the key"#
        ),
        (
            "command = ['/etc/passwd']",
            #":1: cannot use command: the program "/etc/passwd" is not an executable file; run 'chmod +x' or change the key"#
        ),
        (
            "command = ['/tmp']",
            #":1: cannot use command: the program "/tmp" is not an executable file; run 'chmod +x' or change the key"#
        ),
        (
            "command = ['sh']\nid = '-x'",
            """
            :2: cannot use id: found "-x"; expected an app id (1 to 128 of A-Z a-z 0-9 . _ -, starting with neither . nor -)
            """
        ),
        (
            "command = ['sh']\nworkingDirectory = '~'",
            #":2: cannot use workingDirectory: found "~"; expected an absolute path (~ and variables are not expanded)"#
        ),
        (
            "command = ['sh']\nsuspend = 'sometimes'",
            #":2: cannot use suspend: found "sometimes"; expected "auto" or "never""#
        ),
        ("command = ['sh']\nsuspend = false", #":2: cannot use suspend: found false; expected "auto" or "never""#),
        (
            "command = ['sh']\n[environment]\nA = 1",
            ":3: cannot use environment.A: found the integer 1; expected a string"
        ),
        (
            "command = ['sh']\nenvironment = { 'A=B' = 'x' }",
            """
            :2: cannot use environment: "A=B" cannot be a variable; a variable's name is letters, digits and _, and starts with no \
            digit
            """
        ),
        ("comand = ['sh']", #":1: cannot use "comand": unknown key; did you mean "command"?"#),
        (
            "command = ['sh']\nname = \"a\\u001b[2Jb\"",
            #":2: cannot use name: found "a\u{1B}[2Jb"; expected a string of 1 to 256 characters without control characters"#
        ),
        (
            "command = ['sh']\nrestart = 'sometimes'",
            #":2: cannot use restart: found "sometimes"; expected "never" or "on-failure" or "always""#
        ),
        (
            "command = ['sh']\nreclaimWhenSuspended = 1",
            ":2: cannot use reclaimWhenSuspended: found the integer 1; expected true or false"
        ),
        (
            "command = ['sh']\ncapabilities = ['CAP_KILL', 'CAP_FLY']",
            #"""
            :2: cannot use capabilities: found "CAP_FLY" as element 2; expected an array of capabilities of \#
            capabilities(7), such as ["CAP_NET_BIND_SERVICE"]
            """#
        ),
        (
            "command = ['sh']\nwritablePaths = ['/srv/../etc']",
            #"""
            :2: cannot use writablePaths: found "/srv/../etc" as element 1; expected an array of absolute paths \#
            without "..", such as ["/var/lib/kiosk"]
            """#
        ),
        (
            "command = ['sh']\nschemes = ['http', 'https:']",
            """
            :2: cannot use schemes: found "https:" as element 2; expected an array of URL schemes without the colon, \
            such as ["http", "https"]
            """
        ),
        (
            "command = ['sh']\nmimeTypes = ['text']",
            """
            :2: cannot use mimeTypes: found "text" as element 1; expected an array of media types, such as ["text/plain", "image/*"]
            """
        ),
        ("command = ['sh']\nuser = 'a b'", #":2: cannot use user: found "a b"; expected the name of a user"#),
    ])
    func mistakesAreExplained(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text, to: "apps.d/bad.toml")
        try directory.write("command = ['/bin/sh']", to: "apps.d/good.toml")
        let configuration = try directory.load()
        #expect(directory.problems(configuration) == ["apps.d/bad.toml\(problem)"])
        #expect(configuration.manifests.map(\.id) == ["good"])
    }

    @Test func onlyTheSystemInstanceAcceptsAUser() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']\nuser = 'nobody'", to: "apps.d/a.toml")
        let configuration = try directory.load(instance: .user)
        #expect(configuration.manifests == [])
        #expect(
            directory.problems(configuration) == [
                "apps.d/a.toml:2: cannot use user: only the system's daemon can launch apps as another user; remove the key"
            ]
        )
    }

    @Test func userThatTheMachineDoesNotHaveIsReportedByACheck() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']\nuser = 'no_user_of_this_machine'", to: "apps.d/a.toml")
        let message =
            "cannot use user: the machine has no user \"no_user_of_this_machine\"; add the user or correct the name"
        #expect(try directory.problems(directory.load()) == ["apps.d/a.toml:2: \(message)"])
        // The daemon looks users up by itself, and reports an unknown one when it launches the app.
        #expect(try directory.load(searchPath: nil).problems == [])
    }

    @Test func aSharedManifestWithAUserIsForTheSystemInstanceAlone() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']\nuser = 'nobody'", to: "etc/apps.d/a.toml")
        try directory.write("command = ['sh']", to: "etc/apps.d/b.toml")
        let configuration = try directory.load(["etc", "home"], instance: .user)
        #expect(configuration.manifests.map(\.id) == ["b"] && configuration.problems == [])
        #expect(try directory.load(["etc"]).manifests.map(\.id) == ["a", "b"])
    }

    @Test func aManifestMayBringItsOwnSearchPath() throws {
        let directory = try TemporaryDirectory()
        try directory.makeProgram("opt/tool")
        try directory.write(
            "command = ['tool']\nenvironment = { PATH = '\(directory.path)/opt' }",
            to: "apps.d/a.toml"
        )
        let configuration = try directory.load()
        #expect(configuration.manifests.map(\.command) == [["tool"]] && configuration.problems == [])
    }

    @Test func programsAreNotLookedUpWithoutASearchPath() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['/no/such']", to: "apps.d/a.toml")
        try directory.write("command = ['no-such']\nenvironment = { PATH = '/no' }", to: "apps.d/b.toml")
        let configuration = try directory.load(searchPath: nil)
        #expect(configuration.manifests.map(\.id) == ["a", "b"] && configuration.problems == [])
    }
}
