import Glibc
import LifecycleTypes
import TestSupport
import Testing

@testable import Configuration

/// Where entries are, and which of several counts.
@Suite struct DesktopEntriesTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func write(_ path: String, _ lines: String...) throws {
        try directory.write(
            "[Desktop Entry]\nType=Application\nName=\(path)\nExec=sh\n" + lines.joined(separator: "\n"), to: path)
    }

    private func entries(_ names: String...) -> DesktopEntries {
        DesktopEntries(directories: names.map { "\(directory.path)/\($0)" }, searchPath: "/usr/bin:/bin")
    }

    private func name(_ finding: DesktopEntries.Finding?) -> String? {
        switch finding {
        case .entry(let entry): entry.manifest.name
        case .unusable(let problem): String(problem.description.dropFirst(directory.path.count + 1))
        case nil: nil
        }
    }

    @Test func `an id is the path below applications`() throws {
        try write("one/applications/plain.desktop")
        try write("one/applications/kde/org.example.clock.desktop")
        try write("one/applications/a/b/c.desktop")
        try directory.write("", to: "one/applications/mimeinfo.cache")
        try directory.write("", to: "one/applications/.desktop")
        try directory.write("", to: "one/applications/with space.desktop")
        let all = try entries("one").all()
        #expect(all.keys.sorted() == ["a-b-c", "kde-org.example.clock", "plain"])
        #expect(
            try name(entries("one").find("kde-org.example.clock")) == "one/applications/kde/org.example.clock.desktop")
        #expect(try entries("one").find("org.example.clock") == nil)
        #expect(try entries("one").find("../applications/plain") == nil)
    }

    @Test func `facts are read of an entry that cannot be launched`() throws {
        try write(
            "usr/applications/term.desktop", "Categories=System;TerminalEmulator;", "Terminal=true", "NoDisplay=true")
        try directory.write("[Desktop Entry]\nName=Bus\nDBusActivatable=true", to: "usr/applications/bus.desktop")
        try directory.write("nothing", to: "usr/applications/broken.desktop")
        var facts = DesktopEntryFacts()
        facts.name = "Bus"
        facts.isActivatable = true
        #expect(try entries("usr").facts(of: "bus") == facts)
        #expect(
            try entries("usr").activatableFacts(among: ["bus", "term", "broken", "absent", "../bus"]) == ["bus": facts])
        facts.isActivatable = false
        facts.name = "usr/applications/term.desktop"
        facts.categories = ["System", "TerminalEmulator"]
        facts.usesTerminal = true
        facts.isShown = false
        #expect(try entries("usr").facts(of: "term") == facts)
        #expect(try entries("usr").facts(of: "broken") == nil)
        #expect(try entries("usr").facts(of: "absent") == nil)
    }

    /// A terminal without its facts would be managed as any app, and a service of the bus would not.
    @Test func `facts that cannot be read for now are not those of a missing entry`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            try directory.write("[Desktop Entry]\nDBusActivatable=true", to: "applications/bus.desktop")
            let entries = DesktopEntries(directories: [directory.path], searchPath: "/bin")
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            #expect(unsafe getrlimit(resource, &limit) == 0)
            var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
            #expect(unsafe setrlimit(resource, &none) == 0)
            let one = #expect(throws: LoadFailure.self) { try entries.facts(of: "bus") }
            let several = #expect(throws: LoadFailure.self) { try entries.activatableFacts(among: ["bus"]) }
            #expect(unsafe setrlimit(resource, &limit) == 0)
            #expect(one?.error == EMFILE && several == one)
            #expect(try entries.facts(of: "bus")?.isActivatable == true)
        }
    }

    @Test func `the first directory counts`() throws {
        try write("home/applications/app.desktop")
        try write("usr/applications/app.desktop")
        try write("usr/applications/other.desktop")
        let found = entries("home", "nowhere", "usr")
        #expect(try name(found.find("app")) == "home/applications/app.desktop")
        #expect(try name(found.find("other")) == "usr/applications/other.desktop")
    }

    @Test func `an entry deleted in the user's directory is deleted`() throws {
        try write("usr/applications/hidden.desktop")
        try write("usr/applications/empty.desktop")
        try write("home/applications/hidden.desktop", "Hidden=true")
        try directory.write("", to: "home/applications/empty.desktop")
        let found = entries("home", "usr")
        #expect(
            try name(found.find("hidden"))
                == "home/applications/hidden.desktop:5: cannot use the entry: Hidden=true deletes it; remove the key")
        #expect(
            try name(found.find("empty"))
                == "home/applications/empty.desktop: cannot use the entry: it is empty, which hides the app; remove it")
    }

    @Test func `a walk has an end`() throws {
        for number in 0..<6 { try write("one/applications/app\(number).desktop") }
        try write("one/applications/deep/er/app.desktop")
        try directory.link("one/applications/loop", to: "\(directory.path)/one/applications")
        let path = "\(directory.path)/one"
        #expect(try DesktopEntryCatalog(directories: [path]).paths.count <= 4096)
        #expect(try DesktopEntryCatalog(directories: [path], limits: .init(entries: 4)).paths.count == 4)
        #expect(try DesktopEntryCatalog(directories: [path], limits: .init(depth: 1)).paths.count == 6)
        #expect(try DesktopEntryCatalog(directories: [path], limits: .init(directories: 1)).paths.count == 6)
    }

    @Test func `so much is read at once`() throws {
        for name in ["a", "b", "c"] { try write("one/applications/\(name).desktop") }
        try directory.write(
            "[Desktop Entry]\n" + String(repeating: "#", count: 300_000), to: "one/applications/d.desktop")
        let found = try entries("one").all(sizeLimit: 200)
        #expect(name(found["b"]) == "one/applications/b.desktop")
        #expect(
            name(found["c"])
                == "one/applications/c.desktop: cannot read the entry: those before it have 200 bytes; ignoring it")
        #expect(
            try name(entries("one").find("d"))
                == "one/applications/d.desktop: cannot read the file: it is larger than 262144 bytes; ignoring it")
    }

    @Test(arguments: [
        (["HOME": "/h"], Instance.user, ["/h/.local/share", "/usr/local/share", "/usr/share"]),
        (["HOME": "/h", "XDG_DATA_HOME": "/d"], .user, ["/d", "/usr/local/share", "/usr/share"]),
        (["HOME": "h", "XDG_DATA_HOME": "d"], .user, ["/usr/local/share", "/usr/share"]),
        (["HOME": "/h", "XDG_DATA_DIRS": "/a/:b::/\u{301}c:/a"], .user, ["/h/.local/share", "/a", "/\u{301}c"]),
        (["HOME": "/h", "XDG_DATA_DIRS": ""], .user, ["/h/.local/share", "/usr/local/share", "/usr/share"]),
        (["HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_DATA_DIRS": "/a"], .system, ["/a"]),
    ])
    func `where entries are`(environment: [String: String], instance: Instance, directories: [String]) throws {
        #expect(DesktopEntries(for: instance, environment: environment, searchPath: "").directories == directories)
    }

    @Test func `a name may have its ending`() throws {
        #expect(DesktopEntries.id(in: "org.example.clock.desktop") == "org.example.clock")
        #expect(DesktopEntries.id(in: "org.example.clock") == "org.example.clock")
        #expect(DesktopEntries.id(in: ".desktop") == ".desktop")
    }

    // Manifests without a command.

    private func load(_ manifest: String, _ instance: Instance = .user) throws -> LoadedConfiguration {
        try directory.write(manifest, to: "apps.d/clock.toml")
        let loader = ConfigurationLoader(
            directories: [directory.path], instance: instance, searchPath: "/usr/bin:/bin", entries: entries("usr"))
        return try loader.load()
    }

    @Test func `a manifest without a command takes the entry's`() throws {
        try write("usr/applications/clock.desktop", "X-Lifed-Suspend=never", "X-Lifed-SceneLimit=4", "MimeType=a/b")
        let loaded = try load("suspend = 'auto'\nscenes = true")
        #expect(loaded.problems == [])
        let manifest = try #require(loaded.manifests.first)
        #expect(manifest.id == "clock")
        #expect(manifest.file == "\(directory.path)/apps.d/clock.toml")
        #expect(manifest.command == ["sh"])
        #expect(manifest.name == "usr/applications/clock.desktop")
        #expect(manifest.mimeTypes == ["a/b"])
        #expect(manifest.suspend == .auto)
        #expect(manifest.scenes)
        #expect(manifest.sceneLimit == 4)
    }

    @Test func `a manifest with a command has nothing of the entry`() throws {
        try write("usr/applications/clock.desktop", "X-Lifed-SceneLimit=4")
        let manifest = try #require(try load("command = ['ls']").manifests.first)
        #expect(manifest.exec == nil)
        #expect(manifest.name == nil)
        #expect(manifest.sceneLimit == 1)
    }

    @Test func `an entry that cannot be used is a mistake of the manifest`() throws {
        try write("usr/applications/clock.desktop", "Terminal=true")
        let problems = directory.problems(try load("suspend = 'never'"))
        #expect(problems.count == 1)
        #expect(
            problems[0].hasPrefix(
                "apps.d/clock.toml: cannot use the manifest: it has no command, and its desktop entry cannot be used (")
        )
        #expect(problems[0].contains("clock.desktop:5: cannot use the entry: Terminal=true"))
    }

    /// The system's daemon would run it as root; a user's runs it as that user.
    @Test func `a manifest on top of an entry is for the system's daemon where it names a user`() throws {
        try write("usr/applications/clock.desktop")
        let user = try load("suspend = 'never'", .system)
        #expect(user.manifests == [] && user.problems == [])
        let machine = try load("user = 'nobody'", .system)
        #expect(machine.problems == [])
        #expect(machine.manifests.map(\.command) == [["sh"]])
    }
}
