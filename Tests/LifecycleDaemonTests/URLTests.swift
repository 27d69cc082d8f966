import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct URLTests {
    @Test(arguments: [
        ("file:///a%20b/c.png", "/a b/c.png"), ("file:/a", "/a"), ("file://localhost/a?x#y", "/a"),
        ("FILE:///%C3%A9", "/é"), ("file://other/a", nil), ("file:a", nil), ("file:///%00", nil), ("file:///%4", nil),
        ("file:///%FF", nil), ("https://example.org/a", nil),
        ("file:///\u{301}a", "/\u{301}a"), ("file:/\u{301}", "/\u{301}"), ("file:///a?\u{301}", "/a"),
    ])
    func fileURLHasADecodedPath(text: String, path: String?) {
        #expect(URLText(text)?.filePath == path)
    }

    @Test(arguments: ["", "a", ":a", "1a:b", "a b:c", "a:b c", "a:\n", "é:a"])
    func malformedURLIsRefused(text: String) {
        #expect(URLText(text) == nil)
    }

    @Test func typeOfAFileIsThatOfTheHeaviestAndLongestPattern() throws {
        let path = "/tmp/lifed-globs-\(getpid())"
        let table = Array(
            """
            # comment
            80:text/heavy:*.x
            50:text/light:*.x
            50:application/gzip:*.gz
            50:application/tar:*.tar.gz
            50:text/x-c++:*.C:cs
            50:text/x-c:*.c
            50:text/make:Makefile
            nonsense

            """.utf8)
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let count = unsafe write(file, table, table.count)
        #expect(count == table.count)
        close(file)
        defer { unsafe unlink(path) }
        let types = MediaTypes(path: path)
        let expected = [
            "a.x": "text/heavy", "A.TAR.GZ": "application/tar", "a.gz": "application/gzip", "Makefile": "text/make",
            "a": "application/octet-stream",
        ]
        for (name, type) in expected { #expect(types.type(ofFile: name) == type, "\(name)") }
        #expect(types.type(ofFile: "a.c") == "text/x-c")
        #expect(MediaTypes(path: "/nonexistent").type(ofFile: "a.x") == "application/octet-stream")
    }

    @Test func tableThatIsThereAgainIsReadAgain() throws {
        try withTemporaryDirectory { (directory: String) throws in
            let (path, aside) = (directory + "/globs2", directory + "/aside")
            write(Array("50:text/light:*.x\n".utf8), to: path)
            let types = MediaTypes(path: path)
            #expect(types.type(ofFile: "a.x") == "text/light")
            #expect(unsafe rename(path, aside) == 0)
            #expect(types.type(ofFile: "a.x") == MediaTypes.unknown)
            #expect(unsafe rename(aside, path) == 0)
            #expect(types.type(ofFile: "a.x") == "text/light")
        }
    }

    private func handlers(_ opens: [String: Set<String>], defaults: [String: String] = [:]) -> URLHandlers {
        var apps: [AppID: AppDefinition] = [:]
        for (name, kinds) in opens {
            var definition = AppDefinition(adHoc: ["true"], user: .daemon, defaults: Policy())
            definition.mimeTypes = Set(kinds)
            apps[AppID(name)] = definition
        }
        return URLHandlers(apps: apps, defaults: defaults)
    }

    private func choice(_ handlers: URLHandlers, _ text: String, type: String? = nil) throws -> String {
        let url = try #require(URLText(text))
        do throws(ControlError) {
            return try handlers.app(for: url, type: type).name
        } catch {
            return error.kind.rawValue
        }
    }

    @Test func closestTypeDecidesThenItsFamilyThenTheScheme() throws {
        let all = handlers([
            "page": ["text/html"], "any-text": ["text/*"], "plain": ["text/plain"], "files": ["file"], "web": ["https"],
        ])
        #expect(try choice(all, "file:///a", type: "text/html") == "page")
        #expect(try choice(all, "file:///a", type: "text/css") == "any-text")
        #expect(try choice(all, "file:///a", type: "image/png") == "files")
        #expect(try choice(all, "https://a", type: "text/html") == "web")
        #expect(try choice(handlers(["plain": ["text/plain"]]), "file:///a", type: "text/css") == "plain")
        #expect(try choice(handlers([:]), "https://a") == "NoSuchApp")
    }

    @Test func defaultAppOfSeveralOpensTheURL() throws {
        let two = ["a": Set(["https"]), "b": Set(["https"])]
        #expect(try choice(handlers(two), "HTTPS://x") == "Ambiguous")
        #expect(try choice(handlers(two, defaults: ["https": "b"]), "https://x") == "b")
        #expect(try choice(handlers(two, defaults: ["https": "gone"]), "https://x") == "Ambiguous")
    }

    /// Other entries are read only if no manifest opens the URL.
    @Test func defaultEntryOpensOnlyWhatItIsTheDefaultOf() throws {
        var all = handlers(["a": ["text/html"], "b": ["https"]], defaults: ["text/plain": "entry", "odd": "entry"])
        #expect(try choice(all, "odd:x") == "NoSuchApp")
        all.defaultEntries = [AppID("entry")]
        #expect(try choice(all, "odd:x") == "entry")
        #expect(try choice(all, "other:x") == "NoSuchApp")
        #expect(try choice(all, "https://x") == "b")
        #expect(try choice(all, "file:///x", type: "text/plain") == "entry")
        #expect(try choice(all, "file:///x", type: "text/html") == "a")
        // Another entry may open text/css.
        #expect(try choice(all, "file:///x", type: "text/css") == "NoSuchApp")
    }

    /// Makes handlers of desktop entries with a `mimeapps.list`.
    private func desktop(_ opens: [String: Set<String>], _ text: String) throws -> URLHandlers {
        let directory = "/tmp/lifed-associations-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let made = unsafe mkdir(directory, 0o700)
        #expect(made == 0)
        let file = unsafe open("\(directory)/mimeapps.list", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        let count = unsafe write(file, bytes, bytes.count)
        #expect(count == bytes.count)
        close(file)
        defer {
            unsafe unlink("\(directory)/mimeapps.list")
            unsafe rmdir(directory)
        }
        let variables = [
            "XDG_CONFIG_HOME": directory, "XDG_CONFIG_DIRS": "/nonexistent", "XDG_DATA_DIRS": "/nonexistent",
        ]
        let entries = DesktopEntries(for: .user, environment: variables, searchPath: "")
        let types: Set<String> = ["x-scheme-handler/https", "text/html", "text/plain"]
        let all = handlers(opens)
        return try URLHandlers(
            apps: all.apps.mapValues { app in
                var manifest = app.manifest
                if manifest.mimeTypes.remove("itself") != nil { manifest.command = ["/usr/bin/lifectl", "open"] }
                return AppDefinition(entry: DesktopEntry(manifest: manifest), defaults: Policy())
            }, defaults: all.defaults, choices: entries.associations.choices(for: types))
    }

    @Test func userChoiceOfSeveralEntriesOpensTheURL() throws {
        let two = ["a": Set(["https"]), "b": Set(["https"]), "c": ["text/html"]]
        let https = { (lines: String) in try self.choice(try self.desktop(two, lines), "https://x") }
        let type = "x-scheme-handler/https"
        #expect(try https("") == "Ambiguous")
        #expect(try https("[Default Applications]\n\(type)=gone.desktop;b.desktop\n") == "b")
        #expect(try https("[Removed Associations]\n\(type)=a.desktop\n") == "b")
        #expect(try https("[Added Associations]\n\(type)=c.desktop\n") == "c")
        #expect(try https("[Default Applications]\n\(type)=c.desktop\n") == "c")
        #expect(try https("[Removed Associations]\n\(type)=a.desktop;b.desktop\n") == "NoSuchApp")
        #expect(
            try https("[Added Associations]\n\(type)=a.desktop\n[Default Applications]\n\(type)=b.desktop\n") == "b")
        // The closest type comes before a choice for another type.
        let text = "[Default Applications]\ntext/plain=a.desktop\n"
        #expect(try choice(try desktop(two, text), "file:///x", type: "text/html") == "c")
        #expect(try choice(try desktop(two, text), "file:///x", type: "text/css") == "a")
    }

    @Test func entryThatCallsLifectlOpensNothing() throws {
        let chosen = "[Default Applications]\nx-scheme-handler/https=lifed-open.desktop;b.desktop\n"
        let apps = ["lifed-open": Set(["https", "itself"]), "a": ["https"], "b": ["https"]]
        #expect(try choice(try desktop(apps, chosen), "https://x") == "b")
        #expect(try choice(try desktop(["lifed-open": ["https", "itself"]], chosen), "https://x") == "NoSuchApp")
    }

    @Test func choiceDecidesBetweenManifestsAndRemovesNone() throws {
        let removed = "[Removed Associations]\nx-scheme-handler/https=a.desktop\n"
        let chosen = try desktop(
            ["b": ["https"]], removed + "[Default Applications]\nx-scheme-handler/https=b.desktop\n")
        let one = URLHandlers(apps: handlers(["a": ["https"]]).apps, defaults: [:], choices: chosen.choices)
        #expect(try choice(one, "https://x") == "a")
        let two = ["a": Set(["https"]), "b": Set(["https"])]
        #expect(
            try choice(URLHandlers(apps: handlers(two).apps, defaults: [:], choices: chosen.choices), "https://x")
                == "b")
        let named = URLHandlers(apps: handlers(two).apps, defaults: ["https": "a"], choices: chosen.choices)
        #expect(try choice(named, "https://x") == "a")
    }

    @Test func refusalNamesAtMostEightApps() throws {
        let many = handlers(Dictionary(uniqueKeysWithValues: (10..<30).map { ("app\($0)", ["odd"]) }))
        let url = try #require(URLText("odd:a"))
        do throws(ControlError) {
            _ = try many.app(for: url, type: nil)
            Issue.record("one of many was chosen")
        } catch {
            #expect(error.reason.hasSuffix("app16, app17 and 12 more"))
        }
    }

    @Test func fieldCodesStandForTheURLInManifestsAlone() {
        let command = ["view", "%u", "100%", "%f", "--x=%u"]
        var manifest = Manifest(id: "view", file: "/view.toml", command: command)
        let definition = AppDefinition(manifest: manifest, defaults: Policy())
        #expect(definition.policy.takesURLs)
        let opening = definition.commandLine(opening: "file:///a%20b")
        #expect(opening == ["view", "file:///a%20b", "100%", "/a b", "--x=%u"])
        #expect(definition.commandLine(opening: nil) == ["view", "100%", "--x=%u"])
        manifest.command = ["%u"]
        #expect(!AppDefinition(manifest: manifest, defaults: Policy()).policy.takesURLs)
        let adHoc = AppDefinition(adHoc: command, user: .daemon, defaults: Policy())
        #expect(adHoc.commandLine(opening: "x:") == command)
    }

    @Test func eventThatDoesNotFitALineIsFoundBeforeItIsSent() {
        #expect(AppEvent.openURL("x:" + String(repeating: "a", count: 6000)).fitsALine)
        #expect(!AppEvent.openURL("x:" + String(repeating: "%", count: 3000)).fitsALine)
        #expect(!AppEvent.continueActivity(type: "a", info: "\u{0}").fitsALine)
    }
}
