import LifecycleTypes
import Testing

@testable import Configuration

/// What one entry says: the Desktop Entry Specification 1.5, sections 3 to 6.
@Suite struct DesktopEntryTests {
    private func read(_ text: String, locale: String = "") throws -> DesktopEntry {
        let reader = DesktopEntryReader(locale: LocaleName(locale), search: ProgramSearch(path: "/usr/bin:/bin"))
        return try reader.parse(Array(text.utf8), "org.example.app", at: "/a.desktop")
    }

    private func entry(_ lines: String..., locale: String = "") throws -> DesktopEntry {
        let all = ["[Desktop Entry]", "Type=Application", "Name=App", "Exec=sh"] + lines
        return try read(all.joined(separator: "\n"), locale: locale)
    }

    private func problem(_ text: String) -> String? {
        do {
            _ = try read(text)
            return nil
        } catch let defect as Defect {
            return (defect.line.map { "\($0): " } ?? "") + defect.message
        } catch {
            return "\(error)"
        }
    }

    @Test func `an entry is as good as a manifest`() throws {
        let text = """
            # A comment
            \u{20}
            [Desktop Entry]
            Type = Application\u{20}
            Name=Clock
            Exec=/bin/sh -c "exit 3" %u
            Path=/tmp
            MimeType=text/plain;x-scheme-handler/HTTPS;IMAGE/png;nonsense;
            NoDisplay=true
            Unknown=\\

            [Desktop Action new]
            Exec=other
            Exec=twice
            nonsense
            """
        let entry = try read(text)
        #expect(entry.manifest.id == "org.example.app")
        #expect(entry.manifest.file == "/a.desktop")
        #expect(entry.manifest.name == "Clock")
        #expect(entry.manifest.command == ["/bin/sh", "-c", "exit 3"])
        #expect(entry.manifest.workingDirectory == "/tmp")
        #expect(entry.manifest.mimeTypes == ["text/plain", "image/png"])
        #expect(entry.manifest.schemes == ["https"])
        #expect(entry.manifest.exec?.command(opening: "x:y") == ["/bin/sh", "-c", "exit 3", "x:y"])
        #expect(!entry.isShown)
        #expect(entry.problems.isEmpty)
    }

    @Test(arguments: [
        ("", "it does not begin with the group [Desktop Entry]; add the group"),
        ("# only a comment", "it does not begin with the group [Desktop Entry]; add the group"),
        ("Type=Application", "1: it does not begin with the group [Desktop Entry]; add the group"),
        ("[Other]\n[Desktop Entry]", "1: it does not begin with the group [Desktop Entry]; add the group"),
        ("[Desktop Entry] \nType=Application", "1: it does not begin with the group [Desktop Entry]; add the group"),
        ("[Desktop Entry]\nnonsense", "2: the line is no group, comment or Key=Value; correct it"),
        ("[Desktop Entry]\nA b=c", "2: the key is not valid; use letters, digits and -, and perhaps a [locale]"),
        ("[Desktop Entry]\nName[=c", "2: the key is not valid; use letters, digits and -, and perhaps a [locale]"),
        ("[Desktop Entry]\nName=\0", "2: Name has the character NUL; remove it"),
        ("[Desktop Entry]\nExec=sh", "1: Type is missing; expected Application"),
        ("[Desktop Entry]\nType=Link\nURL=x:", #"2: Type is "Link"; expected Application"#),
        ("[Desktop Entry]\nType=Application", "1: it has no Exec; add it, or write a manifest with command"),
        ("[Desktop Entry]\nType=Application\nExec=", "1: it has no Exec; add it, or write a manifest with command"),
        (
            "[Desktop Entry]\nType=Application\nDBusActivatable=true",
            "1: it has no Exec and is started over D-Bus, which lifed does not do; write a manifest with command"
        ),
        ("[Desktop Entry]\nType=Application\nHidden=true\nExec=sh", "3: Hidden=true deletes it; remove the key"),
        (
            "[Desktop Entry]\nType=Application\nExec=sh\nTerminal=true",
            #"4: Terminal=true needs a terminal; add terminal = ["foot"] to lifed.toml"#
        ),
        (
            "[Desktop Entry]\nType=Application\nExec=sh\nTerminal=yes",
            #"4: Terminal is "yes"; expected true or false"#
        ),
        (
            "[Desktop Entry]\nType=Application\nExec=sh\nTryExec=nonexistent",
            #"4: the program "nonexistent" of TryExec does not exist in "/usr/bin:/bin"; install it"#
        ),
        (
            "[Desktop Entry]\nType=Application\nExec=/nonexistent",
            #"3: the program "/nonexistent" of Exec does not exist; install it"#
        ),
        (
            "[Desktop Entry]\nType=Application\nExec=/tmp",
            #"3: the program "/tmp" of Exec is not an executable file; run 'chmod +x'"#
        ),
        (
            "[Desktop Entry]\nType=Application\nExec=sh %x",
            #"3: Exec has the unknown field code "%x"; write %% for a percent sign"#
        ),
        ("[Desktop Entry]\nType=Application\nExec=sh\nExec=ls", "4: Exec is there twice; remove one"),
        ("[Desktop Entry]\nType=Application\nExec=sh\nPath=a", #"4: Path is "a"; expected an absolute path"#),
        (
            "[Desktop Entry]\nType=Application\nExec=a\\",
            "3: a value ends in a backslash, which escapes nothing; remove it"
        ),
    ])
    func `a mistake names its line`(text: String, message: String) {
        #expect(problem(text) == message)
    }

    @Test func `the class of the windows is that of the entry`() throws {
        #expect(try entry("StartupWMClass=Foo").manifest.windowClass == "Foo")
        #expect(try entry("StartupWMClass=").manifest.windowClass == nil)
        #expect(try entry("StartupWMClass=Foo", "StartupWMClass=Bar").manifest.windowClass == nil)
        #expect(try entry().manifest.windowClass == nil)
    }

    @Test func `D-Bus activation is an offer where there is a command`() throws {
        #expect(try entry("DBusActivatable=true").manifest.command == ["sh"])
    }

    @Test func `an entry that menus hide can be launched`() throws {
        #expect(try entry("OnlyShowIn=KDE;").isShown)
        #expect(try entry("NotShowIn=GNOME;").isShown)
    }

    @Test func `an unused duplicate is accepted`() throws {
        #expect(try entry("Keywords=a", "Keywords=b").manifest.command == ["sh"])
    }

    @Test func `lines may end as they do elsewhere`() throws {
        #expect(try read("[Desktop Entry]\r\nType=Application\r\nName=A\r\nExec=sh\r\n").manifest.name == "A")
    }

    @Test(arguments: [
        ("sr_YU.UTF-8@Latn", "country and modifier"), ("sr_YU", "country"), ("sr_RS@Latn", "modifier"),
        ("sr_RS.UTF-8", "language"), ("sr", "language"), ("de_DE.UTF-8", "App"), ("C", "App"), ("C.UTF-8", "App"),
        ("", "App"), ("../sr", "App"),
    ])
    func `the name is in the user's language`(locale: String, name: String) throws {
        let found = try entry(
            "Name[sr_YU@Latn]=country and modifier", "Name[sr_YU]=country", "Name[sr@Latn]=modifier",
            "Name[sr]=language", locale: locale)
        #expect(found.manifest.name == name)
    }

    @Test func `a locale is the first of three variables that is set`() {
        #expect(LocaleName(environment: ["LANG": "de", "LC_MESSAGES": "fr", "LC_ALL": ""]) == LocaleName("fr"))
        #expect(LocaleName(environment: ["LANG": "de", "LC_ALL": "sr"]) == LocaleName("sr"))
        #expect(LocaleName(environment: [:]) == LocaleName("C"))
    }

    @Test func `escapes of strings come before quotes of commands`() throws {
        #expect(try entryCommand(#"Exec=sh "a\\\\b\\$c" d\se\\sf"#) == ["sh", #"a\b$c"#, "d", "esf"])
        #expect(try entryCommand(#"Exec=sh "a\tb\n\q""#) == ["sh", "a\tb\n\\q"])
    }

    private func entryCommand(_ line: String) throws -> [String] {
        try read("[Desktop Entry]\nType=Application\n\(line)").manifest.command
    }

    @Test func `a name that cannot be shown is none`() throws {
        #expect(try read("[Desktop Entry]\nType=Application\nExec=sh %c\nName=a\\tb").manifest.name == nil)
        #expect(
            try read("[Desktop Entry]\nType=Application\nExec=sh %c").manifest.command == ["sh", "org.example.app"])
    }

    @Test func `keys for lifed are those of a manifest`() throws {
        let found = try entry(
            "X-Lifed-Suspend=never", "X-Lifed-BackgroundModes=audio;location;", "X-Lifed-Scenes=true",
            "X-Lifed-SceneLimit=3", "X-Lifed-TerminationTimeout=2s", "X-Lifed-LaunchTimeout=7",
            "X-Lifed-Restart=on-failure")
        #expect(found.problems == [])
        #expect(found.manifest.suspend == .never)
        #expect(found.manifest.backgroundModes == ["audio", "location"])
        #expect(found.manifest.scenes)
        #expect(found.manifest.sceneLimit == 3)
        #expect(found.manifest.terminationTimeout == .seconds(2))
        #expect(found.manifest.launchTimeout == .seconds(7))
        #expect(found.manifest.restart == .onFailure)
    }

    @Test func `a mistake in a key for lifed concerns that key alone`() throws {
        let found = try entry("X-Lifed-Suspend=always", "X-Lifed-Scene=true", "X-Lifed-SceneLimit=2")
        #expect(
            found.problems.map(\.description) == [
                #"/a.desktop:5: cannot use X-Lifed-Suspend: found "always"; expected "auto" or "never""#,
                #"/a.desktop:6: cannot use "X-Lifed-Scene": unknown key; did you mean "X-Lifed-Scenes"?"#,
            ])
        #expect(found.manifest.sceneLimit == 2)
        #expect(found.manifest.suspend == .auto)
    }

    @Test func `a repeated key for lifed concerns that key alone`() throws {
        let unknown = "X-Lifed-Scene=true"
        let found = try entry(
            "X-Lifed-Suspend=never", "X-Lifed-Suspend=auto", unknown, unknown, "X-Lifed-SceneLimit=2")
        #expect(
            found.problems.map(\.description) == [
                "/a.desktop:6: cannot use a key: X-Lifed-Suspend is there twice; remove one",
                #"/a.desktop:8: cannot use "X-Lifed-Scene": unknown key; did you mean "X-Lifed-Scenes"?"#,
            ])
        #expect(found.manifest.sceneLimit == 2)
        #expect(found.manifest.suspend == .auto)
    }

    @Test func `keys for lifed after many mistakes count`() throws {
        let mistakes = (1...25).map { "X-Lifed-Mistake\($0)=true" }
        let text = ["[Desktop Entry]", "Type=Application", "Exec=sh"] + mistakes + ["X-Lifed-SceneLimit=2"]
        let found = try read(text.joined(separator: "\n"))
        #expect(found.problems.count == 21)
        #expect(found.problems.last?.message == "5 more problems are not shown; correct the others first")
        #expect(found.manifest.sceneLimit == 2)
    }

    /// What an app is entitled to is not for the app's own file to say.
    @Test(arguments: ["Control", "User", "Environment", "LaunchAtStart", "Schedule", "Command", "Id", "suspend"])
    func `an entry cannot set keys of a manifest alone`(key: String) throws {
        let found = try entry("X-Lifed-\(key)=full")
        #expect(found.problems.count == 1)
        #expect(found.manifest.control == .own)
    }

    @Test func `accents hide nothing`() throws {
        #expect(try entry("MimeType=text/plain;\u{301};a/b").manifest.mimeTypes == ["text/plain", "a/b"])
        #expect(try read("[Desktop Entry]\nType=Application\nExec=sh\nName=\u{301}x").manifest.name == "\u{301}x")
    }

    @Test func `a semicolon can be a part of a string`() throws {
        let file = try DesktopEntryFile(Array(#"[Desktop Entry]\#nMimeType=a\;b;c\\;d;;\s;"#.utf8))
        #expect(try file.strings(.mimeType) == ["a;b", #"c\"#, "d", " "])
    }
}
