import CommandLineTable
import ControlAPI

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

    /// `lifectl run`
    static func run(_ arguments: Arguments) throws(Failure) {
        let command = arguments.all(.command)
        guard command[0] != "" else { throw Failure(arguments.usage("the name of the program is empty")) }
        let parameters = RunParameters(
            command: command, id: arguments[.id],
            environment: variables(of: Environment.current, adding: arguments.all(.setenv)),
            workingDirectory: Environment.workingDirectory, background: arguments.trueOrNil(.background))
        try arguments.options.show(.run, parameters, doing: "cannot run \(command[0])") { $0.sentence($1) }
    }

    /// Returns the variables to send.
    ///
    /// - Parameters:
    ///   - own: The environment of lifectl.
    ///   - assignments: `NAME=VALUE` sets a variable; `NAME` takes it from the environment, if it is set there.
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
