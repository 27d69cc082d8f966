import Configuration
import Processes
import Testing

@testable import LifecycleDaemon

/// The names of app units, and the units that are managed.
@MainActor @Suite struct AppUnitTests {
    // MARK: Names

    @Test(arguments: [
        ("app-org.example.App-1234.scope", nil, "org.example.App"),
        ("app-gnome-org.gnome.Nautilus-4321.scope", "gnome", "org.gnome.Nautilus"),
        ("app-flatpak-org.gnome.Maps-918273.scope", "flatpak", "org.gnome.Maps"),
        ("app-KDE-org.kde.okular-8f1f5d1d.scope", "KDE", "org.kde.okular"),
        (#"app-gnome-foo\x2dbar-17.scope"#, "gnome", "foo-bar"),
        (#"app-org.example.foo\x2dbar\x5fbaz@0af3.service"#, nil, "org.example.foo-bar_baz"),
        ("app-org.kde.okular@f1f5d1d.service", nil, "org.kde.okular"),
        ("app-niri-foot@12.service", "niri", "foot"),
        ("app-org.example.App.service", nil, "org.example.App"),
        ("app-org.example.App-1234.service", nil, "org.example.App"),
        ("app-org.example.App@autostart.service", nil, "org.example.App"),
        (#"app-gnome\x2dkeyring\x2dssh@autostart.service"#, nil, "gnome-keyring-ssh"),
        ("app-gnome-org.gnome.Maps.desktop-1.scope", "gnome", "org.gnome.Maps"),
        ("snap.firefox.firefox-1c2d8f64-0b5e-4ce6-a3c4-9d21d2f3a111.scope", "snap", "firefox_firefox"),
        ("dbus-:1.2-org.gnome.TextEditor@0.service", "dbus", "org.gnome.TextEditor"),
        (#"dbus-:1.43-org.example.foo\x2dbar@12.service"#, "dbus", "org.example.foo-bar"),
        ("snap.code.url-handler.1c2d8f64-0b5e-4ce6-a3c4-9d21d2f3a111.scope", "snap", "code_url-handler"),
    ])
    func nameOfAnAppUnitGivesTheIDAndTheLauncher(unit: String, launcher: String?, id: String) throws {
        let name = try #require(AppUnitName(unit))
        #expect(name.id == id)
        #expect(name.launcher == launcher)
        #expect(name.isAutostarted == unit.hasSuffix("@autostart.service"))
    }

    @Test(arguments: [
        "", "app", ".scope", "app.scope", "app-.scope", "app-x.scope", "app--1.scope", "app--x-1.scope",
        "app-x-1.slice",
        "app-x-1", "application-x-1.scope", "dbus-:1.2-org.example.App.service", "dbus-org.example.App.service",
        "session-1.scope",
        "dbus-:1.2-org.example.App@0.scope", "dbus-:1.2-@0.service", "dbus-:1.2@0.service", "app-@1.service",
        #"app-a\x2.scope"#, #"app-a\x2-1.scope"#, #"app-a\y2d-1.scope"#, #"app-a\x2fb-1.scope"#,
        #"app-\x2e\x2e-1.scope"#,
        #"app-a\xff-1.scope"#, #"app-a\x00-1.scope"#, "app-ä-1.scope", "snap.firefox.firefox.service",
        "snap.firefox.firefox-12.scope", "snap..firefox-1c2d8f64-0b5e-4ce6-a3c4-9d21d2f3a111.scope",
        "snap.a.b.c-1c2d8f64-0b5e-4ce6-a3c4-9d21d2f3a111.scope", "app-x@1@2.scope",
        "app-" + String(repeating: "a", count: 129) + "-1.scope",
        "app-" + String(repeating: "a", count: 4096) + "-1.scope",
    ])
    func nameOfAnotherUnitIsRefused(unit: String) {
        #expect(AppUnitName(unit) == nil)
    }

    @Test(
        arguments: [
            ("app-gnome-chromium-1107.scope", 1107), ("app-org.chromium.Chromium-1107.scope", 1107),
            ("app-org.kde.kwrite-72e550b210164e098a9ec351e63d01d6.scope", nil),
            ("app-x-99999999999999999999.scope", nil),
            ("app-org.example.App-1234.service", nil), ("app-niri-foot@12.service", nil),
        ] as [(String, ProcessID?)])
    func nameOfAScopeMayHaveTheProcess(unit: String, process: ProcessID?) {
        #expect(AppUnitName(unit)?.process == process)
    }

    @Test func pathOfAUnitIsEscapedAsSystemdDoes() throws {
        let name = try #require(AppUnitName(#"app-org.ex\x2da-1.scope"#))
        #expect(name.path == "/org/freedesktop/systemd1/unit/app_2dorg_2eex_5cx2da_2d1_2escope")
    }

    // MARK: Decisions

    private func decision(
        _ id: String, _ manage: DaemonSettings.Desktop.Manage, allow: [String] = [], deny: [String] = [],
        isAutostarted: Bool = false, isBusService: Bool = false, edit: ((inout DesktopEntryFacts) -> Void)? = nil
    ) -> AppUnitPolicy.Decision {
        var settings = DaemonSettings.Desktop()
        (settings.manage, settings.allow, settings.deny) = (manage, allow, deny)
        let facts = edit.map { edit in
            var facts = DesktopEntryFacts()
            edit(&facts)
            return facts
        }
        return AppUnitPolicy(settings: settings)
            .decision(id: id, isAutostarted: isAutostarted, isBusService: isBusService) { _ in facts }
    }

    @Test func nothingIsManagedByDefault() {
        #expect(DaemonSettings().desktop.manage == .none)
        #expect(decision("org.example.App", .none, allow: ["org.example.App"]) == .leave(.off))
    }

    @Test func listedAppsAloneAreManagedIfTheUserListsThem() {
        #expect(decision("org.example.App", .listed, allow: ["org.example.*"]) == .manage)
        #expect(decision("org.gnome.Console", .listed, allow: ["org.gnome.Console"]) == .manage)
        #expect(decision("org.other.App", .listed, allow: ["org.example.*"]) == .leave(.notListed))
    }

    @Test func denialComesBeforeEverythingElse() {
        #expect(decision("org.example.App", .all, allow: ["org.example.App"], deny: ["*.App"]) == .leave(.denied))
    }

    @Test(arguments: [
        "org.gnome.Shell", "xdg-desktop-portal-gtk", "org.fcitx.Fcitx5", "swaylock", "org.gnome.SettingsDaemon.Power",
        "gnome-keyring-ssh", "Hyprland", "waybar", "polkit-gnome-authentication-agent-1", "pipewire",
    ])
    func programOfTheSessionIsLeftAloneUnlessItIsAllowed(id: String) {
        #expect(decision(id, .all) == .leave(.ofSession))
        #expect(decision(id, .all, allow: [id]) == .manage)
    }

    @Test func terminalIsLeftAloneByItsIDOrItsEntry() {
        #expect(decision("org.gnome.Console", .all) == .leave(.terminal))
        #expect(decision("foot", .all, allow: ["foot"]) == .manage)
        #expect(
            decision("org.example.App", .all) { $0.categories = ["System", "TerminalEmulator"] } == .leave(.terminal))
        #expect(decision("htop", .all) { $0.usesTerminal = true } == .leave(.terminal))
    }

    @Test func nameOnTheBusIsAnAppIfItHasAnEntry() {
        #expect(decision("org.example.App", .all, isBusService: true) { $0.categories = ["Utility"] } == .manage)
        #expect(decision("org.example.App", .all, isBusService: true) { $0.isShown = false } == .leave(.hidden))
        #expect(decision("org.example.Daemon", .all, isBusService: true) == .leave(.service))
        #expect(decision("org.example.Daemon", .all, allow: ["org.example.*"], isBusService: true) == .leave(.service))
    }

    @Test func appOfAnEntryIsManagedUnlessItIsHiddenOrAutostarted() {
        #expect(decision("org.example.App", .all) == .manage)
        #expect(decision("org.example.App", .all) { $0.categories = ["Utility"] } == .manage)
        #expect(decision("org.example.App", .all) { $0.isShown = false } == .leave(.hidden))
        #expect(decision("org.example.App", .all, isAutostarted: true) == .leave(.autostarted))
        #expect(decision("org.example.App", .all, allow: ["org.example.App"], isAutostarted: true) == .manage)
    }
}
