import CommandLineTable
import ControlAPI
import Glibc
import LifecycleTypes

extension VerbGroup {
    /// The verbs that decide which apps and scenes are in the foreground.
    static let foreground = VerbGroup(
        title: "Foreground",
        verbs: [
            Verb(
                name: "focus", summary: "Bring a running app, or one of its scenes, to the foreground.",
                details: """
                    Returns when the app is active, or the scene APP/SCENE is. Without a scene, an app with several shows \
                    those that were in the foreground last.
                    """,
                example: "lifectl focus org.example.Clock", parameters: [.app, .wait] + .changing,
                excluding: [[.wait, .noWait]], run: AppAction.focus.perform),
            Verb(
                name: "background", summary: "Send apps to the background.",
                details: """
                    As if the user had left the app: other foreground apps stay, and if there are none, the home app \
                    comes to the foreground. Returns when the apps are in the background; the daemon suspends them when \
                    their background time expires.
                    """,
                example: "lifectl background org.example.Clock", parameters: [.apps] + .changing,
                run: AppAction.background.perform),
            Verb(
                name: "home", summary: "Send the foreground apps to the background; show the home app.",
                details:
                    "Returns when the home app is active or, without a home app, when no app is in the foreground.",
                example: "lifectl home", parameters: .changing
            ) { arguments throws(Failure) in
                try arguments.options.show(.home, doing: "cannot go home") { present, reply in
                    reply.app.map(present.sentence) ?? "no app is in the foreground\n"
                }
            },
            Verb(
                name: "interrupt", summary: "Interrupt the foreground, as for a call or an alert.",
                details: """
                    The foreground apps are inactive until every interruption has ended. With a command, the interruption \
                    lasts as long as the command: it ends, too, with Ctrl-C and if the command cannot be started. The \
                    exit status is that of the command, or 128 plus the number of the signal that ended it.
                    """,
                example: "lifectl interrupt -- aplay ring.wav",
                parameters: [
                    .option(
                        .name, "name", "The name of the interruption. (default: one for each command)",
                        Interruption.names),
                    .command("The program and its arguments."),
                ], groups: [.interruptions], run: Interruption.run),
            Verb(
                name: "suspend", summary: "Suspend apps: stop every process of them.",
                details: """
                    Returns when every process is stopped. Background tasks expire first; an app that uses a background \
                    mode is not suspended without --now.
                    """,
                example: "lifectl suspend org.example.Clock",
                parameters: [
                    .apps, .flag(.now, "Do not wait for background tasks, or for the background mode in use."),
                ] + .changing, run: AppAction.suspend.perform),
            Verb(
                name: "resume", summary: "Resume apps, and keep them running in the background.",
                details: "Returns when the apps run.",
                example: "lifectl resume org.example.Clock", parameters: [.apps] + .changing,
                run: AppAction.resume.perform),
            Verb(
                name: "wake", summary: "Wake an app for work in the background.",
                details: """
                    The app is launched if it does not run, and is suspended again when the work is done, after 30 \
                    seconds at the latest; a foreground app stays there. Returns when the app has reported the outcome. \
                    An app that is not connected is only resumed.
                    """,
                example: "lifectl wake org.example.Mail --for fetch",
                parameters: [
                    .app,
                    .option(
                        .kind, "kind", "The kind of work: a word, such as fetch.",
                        .checked("1 to 64 of a-z, 0-9 and -", WakeParameters.isKind), isRequired: true),
                    .option(.payload, "text", "What the app needs for the work."),
                ] + .changing, run: DeliveryCommands.wake),
            Verb(
                name: "scene", summary: "Open, show, hide, close and list the scenes of apps.",
                details: "A scene is as a rule a window, of an app whose manifest says scenes = true.",
                example: "lifectl scene open org.example.Notes",
                groups: [.scenes]),
        ])

    /// The verbs after `interrupt`.
    private static let interruptions = VerbGroup(
        title: "Commands",
        verbs: [
            Verb(
                name: "begin", summary: "Begin an interruption.",
                example: "lifectl interrupt begin --name call",
                parameters: [.interruption] + .changing, run: Interruption.begin),
            Verb(
                name: "end", summary: "End an interruption.",
                details: "The foreground apps become active again, or the app that answers the interruption.",
                example: "lifectl interrupt end --name call --answer org.example.Phone",
                parameters: [
                    .interruption,
                    .option(.answer, "app", "Bring this app to the foreground in the same step.", .launchableApps),
                ] + .changing, run: Interruption.end),
        ])

    /// The verbs after `scene`.
    private static let scenes = VerbGroup(
        title: "Commands",
        verbs: [
            Verb(
                name: "open", summary: "Open a scene of an app.",
                details: """
                    The app is launched if it does not run. An open scene is shown again. Returns when the scene is \
                    active or, with --background, connected.
                    """,
                example: "lifectl scene open org.example.Notes --info '{\"note\": 4}'",
                parameters: [
                    .app,
                    .option(.scene, "id", "The scene. (default: a new one)", SceneName.words),
                    .option(.role, "role", "The role of the scene. (default: window)", SceneName.words),
                    .option(
                        .info, "text", "What the scene shows, as the app understands it.",
                        .checked("a text of \(SceneText.infoLimit) bytes at most") {
                            $0.utf8.count <= SceneText.infoLimit
                        }),
                    .flag(.background, "Open the scene in the background."),
                ] + .changing, run: SceneCommands.open),
            Verb(
                name: "focus", summary: "Bring a scene to the foreground.",
                details: "Returns when the scene is active.",
                example: "lifectl scene focus org.example.Notes/main", parameters: [.scene] + .changing
            ) { arguments throws(Failure) in
                try arguments.options.perform(
                    .focusScene, on: arguments.required(.scene), verb: "bring", to: " to the foreground")
            },
            Verb(
                name: "background", summary: "Send a scene to the background.",
                details: "Returns when the scene is in the background.",
                example: "lifectl scene background org.example.Notes/main", parameters: [.scene] + .changing
            ) { arguments throws(Failure) in
                try arguments.options.perform(
                    .backgroundScene, on: arguments.required(.scene), verb: "send", to: " to the background")
            },
            Verb(
                name: "close", summary: "Close a scene for good.",
                details: "Returns when the scene is disconnected.",
                example: "lifectl scene close org.example.Notes/scene-2", parameters: [.scene] + .changing,
                run: SceneCommands.close),
            Verb(
                name: "list", summary: "List the scenes of an app, or of all apps.",
                example: "lifectl scene list org.example.Notes --json",
                parameters: [
                    .argument(
                        .app, "The id of the app. (default: all apps)", .apps, isRequired: false),
                    .flag(.ids, "Print APP/SCENE only, one a line."),
                ], excluding: [[.ids, .json]], run: SceneCommands.list),
        ])
}

extension Parameter {
    fileprivate static let interruption = Parameter.option(
        .name, "name", "The name of the interruption. (default: interruption)", Interruption.names)
}

/// `lifectl interrupt`
enum Interruption {
    static let names = Values.checked(
        "1 to 64 bytes without spaces and control characters", BeginInterruptionParameters.isName)

    static func begin(_ arguments: Arguments) throws(Failure) {
        let subject = subject(arguments[.name])
        let parameters = BeginInterruptionParameters(name: arguments[.name])
        try arguments.options.show(.beginInterruption, parameters, doing: "cannot begin \(subject)") { _, _ in
            "\(subject) has begun\n"
        }
    }

    static func end(_ arguments: Arguments) throws(Failure) {
        let parameters = EndInterruptionParameters(name: arguments[.name], answer: arguments[.answer])
        let subject = subject(arguments[.name])
        // The interruption ends even if the app that answers it fails.
        let action = arguments[.answer].map { "cannot answer \(subject) with \(Text.printable($0))" }
        let session = try DaemonConnection(arguments.options, doing: action ?? "cannot end \(subject)")
        guard arguments.options.waits else { return try session.post(.endInterruption, parameters) }
        let present = try session.call(.getStatus).status.interruptions
        let reply = try session.call(.endInterruption, parameters)
        try arguments.options.show(reply) { _ in sentence(ofEndOf: arguments[.name], among: present) }
    }

    /// Returns the result of an end. The end of an interruption that was not there is no error: the caller has what it wanted.
    ///
    /// - Parameter present: The names of the interruptions before.
    static func sentence(ofEndOf name: String?, among present: [String]) -> String {
        if present.contains(name ?? "interruption") { return "\(subject(name)) has ended\n" }
        return "no interruption \(name.map { "\(Text.printable($0)) " } ?? "")was under way\n"
    }

    private static func subject(_ name: String?) -> String {
        name.map { "the interruption \(Text.printable($0))" } ?? "the interruption"
    }

    /// Interrupts the foreground for as long as a command runs, and exits with the status of the command.
    static func run(_ arguments: Arguments) throws(Failure) {
        // As they are: names of files need not be UTF-8.
        let command = Environment.lastArguments(arguments.all(.command).count)
        guard arguments.all(.command)[0] != "" else {
            throw Failure(arguments.usage("the name of the program is empty"))
        }
        // Two commands without a name must not end each other's interruption.
        let name = arguments[.name] ?? "lifectl-\(getpid())"
        // The interruption ends with the connection, unless it has other clients or was begun without one: also if a signal
        // ends lifectl before the command, or kills it.
        let session = try DaemonConnection(arguments.options, doing: "cannot begin the interruption \(name)")
        _ = try session.call(.beginInterruption, BeginInterruptionParameters(name: name, whileConnected: true))
        let outcome = Result { () throws(Failure) in try ForegroundProgram.run(command) }
        // The status of the command counts, also if the daemon does not answer.
        do throws(Failure) {
            try session.end()
        } catch {
            error.show(isJSON: false)
        }
        exit(try outcome.get())
    }
}
