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
