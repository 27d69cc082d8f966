import CommandLineTable
import ControlAPI

extension VerbGroup {
    /// The verbs for shells and compositors: running processes, and the focus of the screen.
    static let integrate = VerbGroup(
        title: "Integrate",
        verbs: [
            Verb(
                name: "adopt", summary: "Manage a running process as an app.",
                details: """
                    The process becomes an app with all of its descendants, until it ends or 'lifectl release' releases \
                    it. The process must be yours, or you must be root. Processes that contain the session, lifed or this \
                    command are refused. Descendants that run as another user are not controlled; 'lifectl explain' names \
                    them.
                    """,
                example: "lifectl adopt $(pgrep -n viewer) --id org.example.Viewer",
                parameters: [
                    .process,
                    .option(
                        .id, "id",
                        "The id of the app; if a manifest has this id, its policy applies. (default: a rule's, or made "
                            + "from the name of the program)"),
                    .option(
                        .name, "name", "The name for users.",
                        .checked("1 to 256 characters without control characters", AdoptParameters.isName)),
                    .flag(.background, "Adopt the process in the background."),
                    .flag(.byRule, "Adopt the process only if a rule in lifed.toml fits it."),
                ] + .changing, run: Adoption.adopt),
            Verb(
                name: "release", summary: "Release an adopted app, which runs on unmanaged.",
                details: "Its processes are continued if they are stopped.",
                example: "lifectl release org.example.Viewer", parameters: [.app] + .changing, run: Adoption.release),
            Verb(
                name: "follow", summary: "Keep the foreground in step with the focus of the screen.",
                details: """
                    Brings the app whose window has the focus to the foreground, and keeps apps running that are visible \
                    or play sound. Runs until it is interrupted (Ctrl-C), and waits for the compositor, the X server, the \
                    sound server and lifed when they restart. Keeps to the daemon that answers first. Windows that belong to no app change nothing; if no window \
                    has the focus, the home app comes to the foreground. Without a source, follows the windows of the \
                    session: sway if SWAYSOCK is set, or else the compositor at WAYLAND_DISPLAY, or else GNOME Shell with the \
                    extension lifed@org.lifed, or else the X server at DISPLAY. i3 is followed as x11. audio reports the apps that play, and changes no focus.
                    """,
                example: "lifectl follow --dry-run",
                parameters: [
                    .argument(
                        .source, "The source. (default: that of the session's windows)",
                        .cases(of: Follow.SourceKind.self), isRequired: false),
                    .flag(.dryRun, "Print what would be done, and change nothing."),
                ], run: Follow.run),
        ])
}

/// The commands about processes that run already.
enum Adoption {
    static func adopt(_ arguments: Arguments) throws(Failure) {
        let pid = arguments.number(.pid) ?? 0
        let action = "cannot adopt process \(pid)"
        let parameters = AdoptParameters(
            pid: Int64(pid), id: arguments[.id], name: arguments[.name], background: arguments.trueOrNil(.background),
            byRule: arguments.trueOrNil(.byRule))
        try arguments.options.show(
            .adopt, parameters, doing: action,
            check: { reply throws(Failure) in
                guard reply.app == nil else { return }
                throw Failure(
                    .noSuchApp, action, "no rule in lifed.toml fits the process",
                    remedy: "add a rule, or leave --by-rule out")
            }
        ) { $0.sentence($1) }
    }

    static func release(_ arguments: Arguments) throws(Failure) {
        let id = arguments.app
        try arguments.options.show(.release, AppParameters(id: id), doing: "cannot release \(id)", waitingFor: id) {
            _, _ in "\(Text.printable(id)) is released, and runs on\n"
        }
    }
}
