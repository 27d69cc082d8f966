import ArgumentParser
import ControlAPI

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        "run", "Run a command as an app, without a manifest.",
        discussion: """
            The command gets this working directory, and of this environment what a program needs to find its user, \
            its language, its files and its display; see ENVIRONMENT in lifectl(1). --setenv adds other variables.
            """, example: "lifectl run --id org.example.Busy -- sh -c 'while :; do :; done'")

    @Option(help: ArgumentHelp("The id of the app. (default: made from the command's name)", valueName: "id"))
    var id: String?

    @Flag(help: "Start the app without bringing it to the front.")
    var background = false

    @Option(
        name: .customLong("setenv"),
        help: ArgumentHelp(
            "Set a variable of the command's environment, or take it from this one. May be given several times.",
            valueName: "name[=value]"))
    var variables: [String] = []

    @OptionGroup var options: GlobalOptions

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The program and its arguments, behind --.", valueName: "command"))
    var command: [String] = []

    func validate() throws {
        guard !command.isEmpty else {
            throw ValidationError("the command belongs behind --, as in: lifectl run -- sleep 60")
        }
        for variable in variables where variable.utf8.first.map({ $0 == UInt8(ascii: "=") }) ?? true {
            throw ValidationError("--setenv takes NAME or NAME=VALUE, not '\(variable)'")
        }
        guard command[0] != "" else { throw ValidationError("the name of the program is empty") }
    }

    func run() throws {
        let parameters = RunParameters(
            command: command, id: id, environment: RunEnvironment.variables(of: Environment.current, adding: variables),
            workingDirectory: Environment.workingDirectory, background: background ? true : nil)
        try options.show(.run, parameters, doing: "cannot run \(command[0])") { $0.sentence($1) }
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
