import TestSupport
import Testing

@testable import Configuration

/// Which app opens what, by `mimeapps.list`.
@Suite struct AssociationsTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func associations(desktop: String? = nil) -> Associations {
        var environment = [
            "HOME": directory.path, "XDG_CONFIG_DIRS": "\(directory.path)/xdg:relative", "XDG_CURRENT_DESKTOP": "",
        ]
        if let desktop { environment["XDG_CURRENT_DESKTOP"] = desktop }
        return Associations(environment: environment, data: ["\(directory.path)/home", "\(directory.path)/usr"])
    }

    private func choice(_ type: String = "text/x-odd", desktop: String? = nil) -> Associations.Choice {
        (try? associations(desktop: desktop).choices(for: [type])[type]) ?? Associations.Choice()
    }

    @Test func `the places are those of the specification, in its order`() {
        let places = associations(desktop: "Sway:GNOME:../x").files.map { $0.path.dropFirst(directory.path.count + 1) }
        let directories = [".config", "xdg", "home/applications", "usr/applications"]
        let names = ["sway-mimeapps.list", "gnome-mimeapps.list", "mimeapps.list"]
        #expect(places.map(String.init) == directories.flatMap { place in names.map { "\(place)/\($0)" } })
        let named = Associations(environment: ["HOME": "/h", "XDG_CONFIG_HOME": "/c"], data: [])
        #expect(named.files.map(\.path) == ["/c/mimeapps.list", "/etc/xdg/mimeapps.list"])
        #expect(
            Associations(environment: ["HOME": "relative"], data: []).files.map(\.path) == ["/etc/xdg/mimeapps.list"])
    }

    @Test func `the system's daemon ignores the choices of users`() {
        let environment = ["HOME": "/h", "XDG_DATA_DIRS": "/usr/share"]
        let entries = { DesktopEntries(for: $0, environment: environment, searchPath: "") }
        #expect(entries(.user).associations.files.first?.path == "/h/.config/mimeapps.list")
        #expect(entries(.system).associations == .none)
    }

    @Test func writtenChoiceIsReadUnchanged() throws {
        try directory.write(
            """
            # A comment
            text/x-odd=before.desktop
            [Default Applications]
             Text/X-Odd = one.desktop ; two.desktop;no-entry;../bad.desktop;;
            text/plain=other.desktop
            no line at all
            [Unknown Group]
            text/x-odd=unknown.desktop
            [Added Associations]\r
            text/x-odd=three.desktop;kde-four.desktop;\r
            [Removed Associations]
            text/x-odd=five.desktop
            """, to: ".config/mimeapps.list")
        let found = choice()
        #expect(found.defaults == ["one", "two"])
        #expect(found.added == ["three", "kde-four"])
        #expect(found.removed == ["five"])
        #expect(try associations().choices(for: ["image/png"]).isEmpty)
    }

    @Test func `the first directory outranks the later ones`() throws {
        try directory.write(
            "[Default Applications]\ntext/x-odd=mine.desktop\n[Added Associations]\ntext/x-odd=kept.desktop\n"
                + "[Removed Associations]\ntext/x-odd=gone.desktop\n", to: ".config/mimeapps.list")
        try directory.write(
            "[Default Applications]\ntext/x-odd=gone.desktop;theirs.desktop;mine.desktop\n"
                + "[Added Associations]\ntext/x-odd=gone.desktop;more.desktop\n"
                + "[Removed Associations]\ntext/x-odd=kept.desktop\n", to: "usr/applications/mimeapps.list")
        let found = choice()
        #expect(found.defaults == ["mine", "theirs"])
        #expect(found.added == ["kept", "more"])
        #expect(found.removed == ["gone"])
    }

    /// The specification's section 3: what is added and removed holds for the entries beside the file and for those after it.
    @Test func `a file has no say in the entries that outrank it`() throws {
        try directory.write("[Desktop Entry]\n", to: "home/applications/kde/own.desktop")
        try directory.write("[Desktop Entry]\n", to: "usr/applications/kde/own.desktop")
        try directory.write("[Desktop Entry]\n", to: "usr/applications/shared.desktop")
        try directory.write("[Desktop Entry]\n", to: "home/applications/new.desktop")
        try directory.write(
            "[Removed Associations]\ntext/x-odd=kde-own.desktop;shared.desktop\n"
                + "[Added Associations]\ntext/x-odd=new.desktop;other.desktop\n"
                + "[Default Applications]\ntext/x-odd=kde-own.desktop\n", to: "usr/applications/mimeapps.list")
        #expect(choice().removed == ["shared"])
        #expect(choice().added == ["other"])
        #expect(choice().defaults == ["kde-own"])
        // The directories of configuration have a say in all of them, and so has a user's own directory.
        for place in ["xdg", "home/applications"] {
            let path = "\(place)/mimeapps.list"
            try directory.write("[Removed Associations]\ntext/x-odd=kde-own.desktop\n", to: path)
            #expect(choice().removed == ["kde-own", "shared"])
            #expect(choice().defaults.isEmpty)
            try directory.write("", to: path)
        }
    }

    @Test func fileOfADesktopSetsOnlyDefaults() throws {
        try directory.write(
            "[Default Applications]\ntext/x-odd=there.desktop\n[Added Associations]\ntext/x-odd=added.desktop\n"
                + "[Removed Associations]\ntext/x-odd=here.desktop\n", to: ".config/sway-mimeapps.list")
        try directory.write("[Default Applications]\ntext/x-odd=here.desktop\n", to: ".config/mimeapps.list")
        #expect(choice(desktop: "sway").defaults == ["there", "here"])
        #expect(choice(desktop: "sway").added.isEmpty)
        #expect(choice(desktop: "KDE").defaults == ["here"])
    }

    @Test func `an absent file is accepted`() throws {
        try directory.write(
            "[Default Applications]\n\u{301}\n=\n\u{301}=\u{301};\ntext/x-odd=\n[\n", to: ".config/mimeapps.list")
        try directory.write(String(repeating: "x", count: 1_048_577), to: "xdg/mimeapps.list")
        let many = (0..<400).map { "app\($0).desktop;" }.joined()
        let lines = String(repeating: "text/x-odd=\(many)\n", count: 3)
        try directory.write("[Default Applications]\n\(lines)", to: "home/applications/mimeapps.list")
        #expect(choice().defaults.count == 256)
    }
}
