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
                ] + .changing, run: AppAction.launch.perform),
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
                    .argument(.url, "A URL, or the path of a file.", .files),
                    .option(
                        .app, "app", "The app to open it with. (default: the app for this scheme or type)",
                        .launchableApps),
                    .option(.type, "type", "Its media type. (default: by the name of the file)"),
                ] + .changing, run: Delivery.open),
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
                ] + .changing, run: Delivery.handOff),
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
