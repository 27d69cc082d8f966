import CommandLineTable
import ControlAPI
import LifecycleTypes

extension VerbGroup {
    /// The verbs for shells, compositors and tests: processes that run already, the screen, and events of the machine.
    static let integrate = VerbGroup(
        title: "Integrate",
        verbs: [
            Verb(
                name: "adopt", summary: "Manage a program that runs already as an app.",
                details: """
                    The process becomes an app with all that it has started, and stays one until it ends, or until \
                    'lifectl release'. It has to be yours, or you have to be root. What the session, lifed or this command \
                    live in is refused. Its processes that run as another user are left alone; 'lifectl explain' names \
                    them.
                    """,
                example: "lifectl adopt $(pgrep -n viewer) --id org.example.Viewer",
                parameters: [
                    .process,
                    .option(
                        .id, "id",
                        "The id of the app; that of a manifest brings its policy. (default: a rule's, or made from the "
                            + "program's name)"),
                    .option(.name, "name", "What people call it."),
                    .flag(.background, "Leave it out of sight, without bringing it to the front."),
                    .flag(.byRule, "Leave it alone where no rule in lifed.toml fits it."),
                ], run: Adoption.adopt),
            Verb(
                name: "release", summary: "Let go of an app that was adopted; it runs on by itself.",
                details: "Its processes are continued if they were stopped.",
                example: "lifectl release org.example.Viewer", parameters: [.app], run: Adoption.release),
            Verb(
                name: "follow",
                summary: "Bring to the front what has the focus on the screen, and keep awake what is seen or heard.",
                details: """
                    Goes on until it is ended (Ctrl-C), and waits for sway, the X server or the sound server, and for \
                    lifed, when one of them is started again. Windows of what is no app are left alone; where nothing has \
                    the focus, the home app comes. What sway is asked is found by SWAYSOCK or in XDG_RUNTIME_DIR, the X \
                    server by DISPLAY; i3 is followed as x11. audio is about what plays, and changes no focus.
                    """,
                example: "lifectl follow sway --dry-run",
                parameters: [
                    .argument(.source, "Whom to follow.", .cases(of: Follow.Place.self)),
                    .flag(.dryRun, "Change nothing, and say what would be done."),
                ], run: Follow.run),
            Verb(
                name: "simulate", summary: "Do to the apps what locking, sleeping or setting the clock would do.",
                details: """
                    The machine itself is left alone. Events are lock, unlock, sleep, wake, switch-away, switch-back and \
                    time-change.
                    """,
                example: "lifectl simulate lock",
                parameters: [.argument(.event, "What is to happen.", .cases(of: MachineEvent.self))]
            ) { arguments in
                guard let event = arguments.word(.event, of: MachineEvent.self) else { return }
                let word = event.rawValue
                let parameters = SimulateParameters(event: event)
                try arguments.options.show(.simulate, parameters, doing: "cannot simulate \(word)") { _, _ in
                    "the apps have done what follows from \(word)\n"
                }
            },
            Verb(
                name: "memory-pressure", summary: "Do what is done when memory is short, to see what apps make of it.",
                details: """
                    warning tells the apps that listen. critical tells them, too, and ends one app: the suspended one \
                    that was in front longest ago, or, where none is suspended, one that runs out of sight. Scenes out of \
                    sight are disconnected before, and no app is ended as long as there were any. Done when its processes \
                    are gone.
                    """,
                example: "lifectl memory-pressure critical",
                parameters: [
                    .argument(
                        .level, "How short memory is to be: normal, warning or critical.",
                        .cases(of: MemoryLevel.self)),
                    .flag(
                        .all, "With critical, end every app that may be ended for its memory, one after the other."),
                ], run: simulateMemoryPressure),
        ])

    private static func simulateMemoryPressure(_ arguments: Arguments) throws {
        guard let level = arguments.word(.level, of: MemoryLevel.self) else { return }
        guard level == .critical || !arguments.has(.all) else { throw arguments.usage("--all goes with critical") }
        let parameters = SimulateMemoryPressureParameters(level: level, all: arguments.has(.all))
        try arguments.options.show(.simulateMemoryPressure, parameters, doing: "cannot simulate memory pressure") {
            _, reply in
            guard level == .critical else { return "apps that run and listen were told, if there are any\n" }
            guard !reply.reclaimed.isEmpty else {
                return "scenes out of sight were disconnected, and no app was ended\n"
            }
            return reply.reclaimed.map { "\(Text.printable($0)) was ended for its memory\n" }.joined()
        }
    }
}
