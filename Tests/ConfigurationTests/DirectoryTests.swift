import Glibc
import TestSupport
import Testing

@testable import Configuration

@Suite struct DirectoryTests {
    private let app = "command = ['/bin/sh']\n"

    @Test func aFileOfTheSameNameReplacesTheLowerOne() throws {
        let directory = try TemporaryDirectory()
        try directory.write(app + "name = 'vendor'", to: "vendor/apps.d/a.toml")
        try directory.write(app + "name = 'vendor'", to: "vendor/apps.d/b.toml")
        try directory.write(app + "name = 'local'", to: "etc/apps.d/a.toml")
        let configuration = try directory.load(["vendor", "etc"])
        #expect(directory.problems(configuration) == [])
        #expect(configuration.manifests.map(\.name) == ["local", "vendor"])
    }

    @Test func aBrokenFileReplacesTheLowerOneToo() throws {
        let directory = try TemporaryDirectory()
        try directory.write(app, to: "vendor/apps.d/a.toml")
        try directory.write("command =", to: "etc/apps.d/a.toml")
        let configuration = try directory.load(["vendor", "etc"])
        #expect(configuration.manifests == [])
        #expect(configuration.problems.map(\.file) == ["\(directory.path)/etc/apps.d/a.toml"])
    }

    @Test func anEmptyFileOrALinkToNullTakesTheLowerOneAway() throws {
        let directory = try TemporaryDirectory()
        for name in ["a", "b", "c"] { try directory.write(app, to: "vendor/apps.d/\(name).toml") }
        try directory.write("", to: "etc/apps.d/a.toml")
        try directory.link("etc/apps.d/b.toml", to: "/dev/null")
        let configuration = try directory.load(["vendor", "etc"])
        #expect(directory.problems(configuration) == [])
        #expect(configuration.manifests.map(\.id) == ["c"])
    }

    @Test func theHigherOfTwoFilesWithOneIDCounts() throws {
        let directory = try TemporaryDirectory()
        let loser = try directory.write("id = 'x'\n" + app, to: "vendor/apps.d/a.toml")
        let winner = try directory.write(app + "id = 'x'\n", to: "etc/apps.d/b.toml")
        let configuration = try directory.load(["vendor", "etc"])
        #expect(configuration.manifests.map(\.file) == [winner])
        let message = #"cannot use the id "x": \#(winner) has it already; ignoring this manifest"#
        #expect(configuration.problems == [Problem(file: loser, line: 1, message: message)])
    }

    @Test func otherFilesAreNotManifests() throws {
        let directory = try TemporaryDirectory()
        for name in ["a.toml~", "b.toml.sample", ".c.toml", "README"] { try directory.write("x", to: "apps.d/\(name)") }
        #expect(try directory.load() == LoadedConfiguration())
    }

    @Test func manifestsBeyondTheLimitAreLeftOut() throws {
        let directory = try TemporaryDirectory()
        try directory.write("limits.apps = 2", to: "lifed.toml")
        for name in ["a", "b", "c", "d"] { try directory.write(app, to: "apps.d/\(name).toml") }
        let configuration = try directory.load()
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
            try loader.load().problems == [
                Problem(
                    file: missing, message: "cannot read the configuration: this is not a directory; name another one")
            ])
    }

    /// The files that were read would count as the whole configuration otherwise, and other apps would be forgotten.
    @Test func loadWithoutDescriptorsFails() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            try directory.write("command = ['/bin/sh']\n", to: "apps.d/a.toml")
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            #expect(unsafe getrlimit(resource, &limit) == 0)
            var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
            #expect(unsafe setrlimit(resource, &none) == 0)
            let failure = #expect(throws: LoadFailure.self) { try directory.load() }
            #expect(unsafe setrlimit(resource, &limit) == 0)
            #expect(failure?.file == "\(directory.path)/lifed.toml" && failure?.error == EMFILE)
            #expect(try directory.load().manifests.map(\.id) == ["a"])
        }
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
