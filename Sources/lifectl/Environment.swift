import Glibc

/// The process's environment. What is not UTF-8 cannot go over the wire, and is left out.
enum Environment {
    static var current: [String: String] {
        var result: [String: String] = [:]
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe entry += 1
            // By bytes: the sign and an accent at the beginning of the value are one character.
            guard let pair = unsafe String(validatingCString: text),
                let equals = pair.utf8.firstIndex(of: UInt8(ascii: "="))
            else { continue }
            result[String(pair[..<equals])] = String(pair[pair.utf8.index(after: equals)...])
        }
        return result
    }

    /// One variable of it: to look for a few is quicker than to read all.
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// Where the process is, or nil when that directory is gone.
    static var workingDirectory: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
    }
}

/// The variables that `lifectl run` sends to the daemon.
///
/// The environment of a shell holds secrets: keys, tokens, passwords. What a program needs to find its user, its language,
/// its files and its display goes to the daemon; anything else is named with `--setenv`.
enum RunEnvironment {
    private static let names: Set<String> = [
        // The user and the shell.
        "HOME", "USER", "LOGNAME", "SHELL", "PATH", "PWD", "TMPDIR", "LD_LIBRARY_PATH", "LIFED_SOCKET",
        // The language, the time and the terminal.
        "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR",
        // The display, the session and the sound.
        "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XMODIFIERS", "SWAYSOCK", "I3SOCK", "DESKTOP_SESSION",
        "SESSION_MANAGER", "DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS", "NO_AT_BRIDGE", "FONTCONFIG_FILE",
        "FONTCONFIG_PATH", "BROWSER",
    ]

    private static let prefixes = [
        "LC_", "XDG_", "GTK_", "GDK_", "GIO_", "GSETTINGS_", "QT_", "KDE_", "SDL_", "CLUTTER_", "MOZ_", "XCURSOR_",
        "LIBGL_", "MESA_", "EGL_", "VK_", "PULSE_", "PIPEWIRE_", "ALSA_", "GST_",
    ]

    /// Returns the variables to send.
    ///
    /// - Parameter own: The environment of lifectl.
    /// - Parameter assignments: `NAME=VALUE` sets a variable; `NAME` takes it from the environment, if it is set there.
    static func variables(of own: [String: String], adding assignments: [String]) -> [String: String] {
        var result = own.filter { name, _ in
            names.contains(name) || prefixes.contains { name.utf8.starts(with: $0.utf8) }
        }
        for assignment in assignments {
            let parts = assignment.utf8.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(decoding: parts[0], as: UTF8.self)
            result[name] = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : own[name]
        }
        return result
    }
}
