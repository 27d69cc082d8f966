import Testing

@testable import Configuration

@Suite struct DirectoryTests {
    private let app = "command = ['/bin/sh']\n"

    @Test func aFileOfTheSameNameReplacesTheLowerOne() throws {
        let directory = try TemporaryDirectory()
        try directory.write(app + "name = 'vendor'", to: "vendor/apps.d/a.toml")
        try directory.write(app + "name = 'vendor'", to: "vendor/apps.d/b.toml")
        try directory.write(app + "name = 'local'", to: "etc/apps.d/a.toml")
        let configuration = directory.load(["vendor", "etc"])
        #expect(directory.problems(configuration) == [])
        #expect(configuration.manifests.map(\.name) == ["local", "vendor"])
    }

    @Test func aBrokenFileReplacesTheLowerOneToo() throws {
        let directory = try TemporaryDirectory()
        try directory.write(app, to: "vendor/apps.d/a.toml")
        try directory.write("command =", to: "etc/apps.d/a.toml")
        let configuration = directory.load(["vendor", "etc"])
        #expect(configuration.manifests == [])
        #expect(configuration.problems.map(\.file) == ["\(directory.path)/etc/apps.d/a.toml"])
    }

    @Test func anEmptyFileOrALinkToNullTakesTheLowerOneAway() throws {
        let directory = try TemporaryDirectory()
        for name in ["a", "b", "c"] { try directory.write(app, to: "vendor/apps.d/\(name).toml") }
        try directory.write("", to: "etc/apps.d/a.toml")
        try directory.link("etc/apps.d/b.toml", to: "/dev/null")
        let configuration = directory.load(["vendor", "etc"])
        #expect(directory.problems(configuration) == [])
        #expect(configuration.manifests.map(\.id) == ["c"])
    }

    @Test func theHigherOfTwoFilesWithOneIDCounts() throws {
        let directory = try TemporaryDirectory()
        let loser = try directory.write("id = 'x'\n" + app, to: "vendor/apps.d/a.toml")
        let winner = try directory.write(app + "id = 'x'\n", to: "etc/apps.d/b.toml")
        let configuration = directory.load(["vendor", "etc"])
        #expect(configuration.manifests.map(\.file) == [winner])
        let message = #"cannot use the id "x": \#(winner) has it already; ignoring this manifest"#
        #expect(configuration.problems == [Problem(file: loser, line: 1, message: message)])
    }

    @Test func otherFilesAreNotManifests() throws {
        let directory = try TemporaryDirectory()
        for name in ["a.toml~", "b.toml.sample", ".c.toml", "README"] { try directory.write("x", to: "apps.d/\(name)") }
        #expect(directory.load() == LoadedConfiguration())
    }

    @Test func manifestsBeyondTheLimitAreLeftOut() throws {
        let directory = try TemporaryDirectory()
        try directory.write("limits.apps = 2", to: "lifed.toml")
        for name in ["a", "b", "c", "d"] { try directory.write(app, to: "apps.d/\(name).toml") }
        let configuration = directory.load()
        #expect(configuration.manifests.map(\.id) == ["a", "b"])
        #expect(directory.problems(configuration) == ["apps.d: cannot use 2 manifests: limits.apps is 2; raise it"])
    }

    @Test func directoryNamedByUserMustExist() throws {
        let directory = try TemporaryDirectory()
        let missing = "\(directory.path)/missing"
        let loader = ConfigurationLoader(
            directories: [missing],
            instance: .user,
            searchPath: "",
            requiresDirectories: true
        )
        #expect(
            loader.load().problems == [
                Problem(
                    file: missing, message: "cannot read the configuration: this is not a directory; name another one")
            ])
    }

    @Test func standardDirectoriesFollowTheirSpecification() {
        let shared = ["/usr/lib/lifed", "/usr/local/lib/lifed", "/etc/lifed"]
        let directories = ConfigurationLoader.standardDirectories
        #expect(directories(.system, ["HOME": "/root"]) == shared)
        #expect(directories(.user, ["HOME": "/home/a"]) == shared + ["/home/a/.config/lifed"])
        #expect(directories(.user, ["HOME": "/home/a", "XDG_CONFIG_HOME": "/c"]) == shared + ["/c/lifed"])
        #expect(directories(.user, ["HOME": "/h", "XDG_CONFIG_HOME": "c"]) == shared + ["/h/.config/lifed"])
        #expect(directories(.user, [:]) == shared)
    }
}
