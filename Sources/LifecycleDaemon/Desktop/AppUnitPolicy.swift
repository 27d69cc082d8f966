import Configuration

/// Decides which app units of the desktop are managed.
nonisolated struct AppUnitPolicy {
    let settings: DaemonSettings.Desktop

    /// The decision about a unit.
    enum Decision: Equatable {
        case manage
        case leave(Reason)
    }

    /// The reason why a unit keeps running unmanaged.
    enum Reason: Equatable {
        /// No app unit is managed.
        case off
        /// `allow` does not name the app.
        case notListed
        /// `deny` names the app.
        case denied
        /// The session depends on the app.
        case ofSession
        /// The app is a terminal, or runs in one: its jobs are not to stop without the user's will.
        case terminal
        /// The session launches the app, which mostly has no window.
        case autostarted
        /// Menus do not show the app: it is a part of something else.
        case hidden
        /// The unit is that of a name on the bus, and no desktop entry makes it an app's.
        case service
    }

    /// Decides about a unit.
    ///
    /// - Parameter facts: Returns the facts in the desktop entry of an id; called only if they matter.
    /// - Throws: The error of `facts`.
    func decision<Failure>(
        id: String, isAutostarted: Bool, isBusService: Bool = false,
        facts: (String) throws(Failure) -> DesktopEntryFacts?
    ) throws(Failure) -> Decision {
        if settings.manage == .none { return .leave(.off) }
        // A pattern that fits an app can fit its background services.
        if isBusService, try facts(id) == nil { return .leave(.service) }
        if settings.deny.contains(where: { Pattern.fits(id, $0) }) { return .leave(.denied) }
        if settings.allow.contains(where: { Pattern.fits(id, $0) }) { return .manage }
        if settings.manage == .listed { return .leave(.notListed) }
        if DesktopPrograms.areOfSession(id) { return .leave(.ofSession) }
        if DesktopPrograms.areTerminals(id) { return .leave(.terminal) }
        if isAutostarted { return .leave(.autostarted) }
        guard let facts = try facts(id) else { return .manage }
        if facts.usesTerminal || facts.categories.contains("TerminalEmulator") { return .leave(.terminal) }
        return facts.isShown ? .manage : .leave(.hidden)
    }
}

/// The programs of desktops that are not suspended unless the user names them, by patterns of their ids.
///
/// Case does not count: an id is that of a desktop entry, or the name of a program.
nonisolated enum DesktopPrograms {
    static func areOfSession(_ id: String) -> Bool { fits(id, session) }

    static func areTerminals(_ id: String) -> Bool { fits(id, terminals) }

    private static func fits(_ id: String, _ patterns: [String]) -> Bool {
        let id = id.lowercased()
        return patterns.contains { Pattern.fits(id, $0) }
    }

    private static let session =
        shells + compositors + portals + inputMethods + lockers + settingsDaemons + keyrings + servers

    private static let shells = [
        "org.gnome.shell*", "gnome-shell*", "gnome-session*", "org.kde.plasmashell", "plasmashell", "org.kde.krunner",
        "org.kde.polkit*", "org.kde.ksmserver*", "phosh*", "mobi.phosh.*", "sm.puri.phosh*", "xfce4-panel*",
        "xfce4-session*",
        "xfdesktop*", "mate-panel", "mate-session*", "cinnamon*", "budgie-*", "lxqt-panel", "lxqt-session", "lxpanel",
        "pcmanfm-desktop*", "pcmanfm-qt-desktop*", "waybar", "eww", "sfwbar", "polybar", "nwg-*", "mako", "dunst",
        "org.knopwob.dunst", "org.erikreider.swaync*", "swaync", "swaybg", "swayidle", "hypridle", "hyprpaper",
        "wpaperd",
        "fuzzel", "wofi", "rofi", "bemenu*", "tofi*", "onagre",
    ]
    private static let compositors = [
        "sway", "i3", "labwc", "wayfire", "hyprland*", "niri*", "river", "phoc", "cage", "weston*", "mutter*", "kwin*",
        "org.kde.kwin*", "gamescope", "xfwm4", "marco", "metacity", "muffin", "openbox", "picom", "compton",
        "xwayland*",
        "xwayland-satellite", "gala", "cosmic-*", "com.system76.cosmic*",
    ]
    private static let portals = ["xdg-desktop-portal*", "org.freedesktop.portal.*", "org.freedesktop.impl.portal.*"]
    private static let inputMethods = [
        "ibus*", "org.freedesktop.ibus*", "fcitx*", "org.fcitx.*", "uim*", "maliit*", "org.kde.plasma.keyboard*",
        "squeekboard", "sm.puri.squeekboard*", "phosh-osk*", "wvkbd*", "onboard*", "orca*", "at-spi*", "kimpanel*",
    ]
    private static let lockers = [
        "swaylock*", "gtklock", "hyprlock", "waylock", "i3lock*", "light-locker*", "xscreensaver*", "xsecurelock",
        "org.kde.kscreenlocker*", "gnome-screensaver*", "mate-screensaver*", "cinnamon-screensaver*", "xss-lock",
    ]
    private static let settingsDaemons = [
        "org.gnome.settingsdaemon*", "gnome-settings-daemon*", "gsd-*", "csd-*", "org.kde.kded*", "kded*", "xsettingsd",
        "xfsettingsd", "mate-settings-daemon*", "nm-applet", "network-manager-applet", "nm-tray", "blueman*", "polkit*",
        "*polkit*agent*", "lxpolkit", "lxqt-policykit*", "org.kde.kdeconnect.daemon", "kanshi", "wlsunset",
        "gammastep*",
        "redshift*", "udiskie*", "lifed*",
    ]
    private static let keyrings = [
        "gnome-keyring*", "org.gnome.keyring*", "kwallet*", "org.kde.kwallet*", "ssh-agent*", "gcr-*", "gpg-agent*",
        "org.gnome.seahorse.application.agent", "pam_kwallet*",
    ]
    private static let servers = [
        "pipewire*", "wireplumber*", "pulseaudio*", "easyeffects", "com.github.wwmm.easyeffects", "dbus*", "gvfs*",
        "tracker-*", "localsearch*", "org.freedesktop.tracker*", "org.freedesktop.localsearch*",
    ]
    private static let terminals = [
        "org.gnome.terminal*", "gnome-terminal*", "org.gnome.console", "kgx", "org.gnome.zbrown.kingscross",
        "sm.puri.kingscross", "org.gnome.ptyxis*", "app.devsuite.ptyxis*", "org.kde.konsole*", "konsole",
        "org.kde.yakuake",
        "yakuake", "foot", "footclient", "foot-server", "org.codeberg.dnkl.foot*", "kitty", "alacritty",
        "org.wezfurlong.wezterm", "wezterm*", "com.mitchellh.ghostty", "ghostty", "xterm", "debian-xterm",
        "debian-uxterm",
        "uxterm", "urxvt*", "rxvt*", "st", "terminator", "com.gexperts.tilix", "tilix", "guake*", "tilda", "sakura",
        "terminology", "xfce4-terminal*", "mate-terminal*", "lxterminal", "qterminal*", "deepin-terminal*",
        "io.elementary.terminal", "com.raggesilver.blackbox", "org.contourterminal.contour", "cool-retro-term", "rio",
        "dev.warp.warp", "com.system76.cosmicterm",
    ]
}
