import CommandLineTable
import ControlAPI
import Varlink

extension VerbGroup {
    /// The verbs that launch, list and end apps, and that deliver something to them.
    static let apps = VerbGroup(
        title: "Apps",
        verbs: [
            Verb(
                name: "launch", summary: "Launch apps, or bring running ones to the foreground.",
                details: """
                    Returns when the app is active. Several apps are launched one after the other. The user's own daemon \
                    launches desktop entries, too, by their ids, with or without .desktop.
                    """,
                example: "lifectl launch org.example.Clock",
                parameters: [
                    .argument(.app, "The id of the app, or several ids.", .launchableApps, isRepeating: true),
                    .flag(.background, "Launch the apps in the background."), .wait,
                ] + .changing, excluding: [[.wait, .noWait]], run: AppAction.launch.perform),
            Verb(
                name: "run", summary: "Run a command as an app without a manifest.",
                details: """
                    The command gets this working directory, and the variables of this environment that a program needs \
                    to find its user, its language, its files and its display; see ENVIRONMENT in lifectl(1). --setenv \
                    adds other variables.
                    """,
                example: "lifectl run --id org.example.Busy -- sh -c 'while :; do :; done'",
                parameters: [
                    .option(.id, "id", "The id of the app. (default: made from the name of the command)"),
                    .flag(.background, "Launch the app in the background."),
                    .option(
                        .setenv, "name[=value]",
                        "Set a variable of the command's environment, or take it from this one. Can be given several "
                            + "times.",
                        .checked("NAME or NAME=VALUE") { $0.utf8.first.map { $0 != UInt8(ascii: "=") } ?? false },
                        isRepeating: true),
                    .command("The program and its arguments."),
                ] + .changing, run: RunEnvironment.run),
            Verb(
                name: "list", summary: "List the known apps, or those that can be launched.",
                example: "lifectl list --json",
                parameters: [
                    .flag(
                        .available,
                        "List the apps that can be launched: those with a manifest and, with the user's own daemon, the "
                            + "desktop entries of installed programs."),
                    .flag(
                        .all, "With --available, also list hidden apps and those that cannot be launched, and why."),
                    .flag(.helpers, "List the processes that serve several apps, such as a session bus."), .ids,
                ], excluding: [[.available, .helpers], [.helpers, .ids], [.ids, .json]], run: List.run),
            Verb(
                name: "status", summary: "Show an app with its processes, or the daemon.",
                details: """
                    Any process of an app identifies the app, not only its main process. --follow shows one line about all \
                    apps, and another one after each change, for the status bar of a desktop.
                    """,
                example: "lifectl status org.example.Clock",
                parameters: [
                    .argument(.app, "The id of the app. (default: the daemon)", .apps, isRequired: false),
                    .option(.pid, "pid", "Show the app that this process belongs to.", .processes),
                    .flag(.follow, "Show a line about all apps whenever they change.", letter: "f"),
                    .option(
                        .format, "format",
                        "With --follow, the form of the line: text, or the object of a module of waybar.",
                        .cases(of: StatusLine.Format.self), initial: "text"),
                ],
                excluding: [[.app, .pid], [.follow, .app], [.follow, .pid], [.follow, .json]],
                run: AppStatus.run),
            Verb(
                name: "terminate", summary: "Ask apps to end; kill them after the termination timeout.",
                details: "Returns when every process of the apps is gone.",
                example: "lifectl terminate org.example.Clock org.example.Mail", parameters: [.apps] + .changing,
                run: AppAction.terminate.perform),
            Verb(
                name: "kill", summary: "Kill apps without asking them, or send them a signal.",
                details: """
                    Returns when every process of the apps is gone; unsaved work is lost. Another signal is sent to every \
                    process of the apps, and the command returns at once. A suspended app is not resumed for a signal: it \
                    gets the signal when it is resumed. Signals that stop or continue processes are refused: use \
                    'lifectl suspend' and 'lifectl resume'.
                    """,
                example: "lifectl kill --signal HUP org.example.Clock",
                parameters: [
                    .apps,
                    .option(
                        .signal, "signal", "The signal, by name or number. (default: KILL)",
                        .checked("a signal, such as HUP, SIGUSR1 or 10") { SignalName.parse($0) != nil }),
                ] + .changing, run: AppAction.kill.perform),
            Verb(
                name: "restart", summary: "Terminate apps and launch them again.",
                details: """
                    An app that was in the background is launched in the background; an app that was not running is \
                    launched. Returns when the app runs again. An app without a manifest is refused, because it cannot be \
                    launched again by its id.
                    """,
                example: "lifectl restart org.example.Clock", parameters: [.apps] + .changing,
                run: AppAction.restart.perform),
            Verb(
                name: "open", summary: "Open a URL or a file with the app for it.",
                details: """
                    The app is launched, or comes to the foreground. Returns when the app has taken the URL. An app that \
                    is not connected gets the URL as an argument of its command when it is launched, and not when it runs \
                    already.
                    """,
                example: "lifectl open https://example.org/",
                parameters: [
                    .argument(.url, "A URL, or the path of a file.", .files("a URL, or the path of a file")),
                    .option(
                        .app, "app", "The app to open it with. (default: the app for this scheme or type)",
                        .launchableApps),
                    .option(
                        .type, "type", "Its media type. (default: by the name of the file)",
                        .checked("a media type, such as text/html", OpenParameters.isType)),
                ] + .changing, run: DeliveryCommands.open),
            Verb(
                name: "handoff", summary: "Continue an activity in an app.",
                details: """
                    The app is launched, or comes to the foreground. Returns when the app has taken the activity. With \
                    --host, the activity continues on another machine.
                    """,
                example: "lifectl handoff org.example.Reader --activity org.example.read --info '{\"page\": 4}'",
                parameters: [
                    .app,
                    .option(
                        .activity, "type", "The type of the activity, in reverse-domain notation.",
                        .nonEmpty("a type, such as org.example.read"), isRequired: true),
                    .option(
                        .info, "json", "What the app needs to continue the activity.",
                        .checked("a JSON text, such as '{\"page\": 4}'", JSON.isText)),
                ] + .changing, run: DeliveryCommands.handOff),
            Verb(
                name: "cat", summary: "Print the manifest of an app.",
                details: "Prints the path of the manifest or desktop entry as a comment, and then the file.",
                example: "lifectl cat org.example.Clock",
                parameters: [.argument(.app, "The id of the app.", .launchableApps)], run: ManifestFile.cat),
            Verb(
                name: "edit", summary: "Edit the manifest of an app.",
                details: """
                    Opens a copy in the editor that VISUAL or EDITOR names, or else in vi(1). If lifed finds no mistake in \
                    the copy, it replaces the manifest, and the daemon reads its configuration again. If lifed finds one, \
                    the manifest stays as it is, and the copy is kept.
                    """,
                example: "lifectl edit org.example.Clock",
                parameters: [.argument(.app, "The id of the app.", .launchableApps), .quiet], run: ManifestFile.edit),
        ])
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

    /// `lifectl run`
    static func run(_ arguments: Arguments) throws(Failure) {
        let command = arguments.all(.command)
        guard command[0] != "" else { throw Failure(arguments.usage("the name of the program is empty")) }
        let action = "cannot run \(command[0])"
        if let name = arguments.all(.setenv).first(where: Environment.hasOtherBytes) {
            throw Failure(
                .invalidData, action, "the variable \(name) is not UTF-8", remedy: "run a script that sets it")
        }
        let parameters = RunParameters(
            command: command, id: arguments[.id],
            environment: variables(of: Environment.current, adding: arguments.all(.setenv)),
            workingDirectory: Environment.workingDirectory, background: arguments.trueOrNil(.background))
        try arguments.options.show(.run, parameters, doing: action) { $0.sentence($1) }
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
