import CommandLineTable
import ControlAPI
import LifecycleTypes
import Varlink

extension VerbGroup {
    /// The verbs about the daemon and the machine.
    static let system = VerbGroup(
        title: "System",
        verbs: [
            Verb(
                name: "simulate", summary: "Simulate memory pressure, or an event of the machine.",
                details: "The apps change as they do at the real event; the machine itself does not.",
                example: "lifectl simulate lock", groups: [.simulations]),
            Verb(
                name: "reload", summary: "Read the configuration and the manifests again.",
                details: """
                    Running apps stay as they are. Mistakes in the files are printed, and the exit status is 65; what has \
                    no mistake applies.
                    """,
                example: "lifectl reload", parameters: .changing
            ) { arguments throws(Failure) in try reload(arguments.options) },
            Verb(
                name: "reexec", summary: "Execute the daemon's program again, as after an upgrade.",
                details: """
                    Apps stay as they are and remain children of the daemon. Only administrators may do it. If the \
                    program cannot be executed, the daemon continues as it is.
                    """,
                example: "lifectl --system reexec", parameters: .changing
            ) { arguments throws(Failure) in
                try arguments.options.show(.reexecute, doing: "cannot execute the daemon again") { _, _ in "" }
            },
        ])

    /// Prints the mistakes with `--quiet`, too: with one, the command has not succeeded.
    private static func reload(_ options: CallOptions) throws(Failure) {
        let action = "cannot reload the configuration"
        guard options.waits else { return try DaemonConnection(options, doing: action).post(.reload, NoParameters()) }
        let reply = try options.call(.reload, doing: action)
        var options = options
        if !reply.problems.isEmpty { options.isQuiet = false }
        try options.show(reply) { $0.problems(reply.problems) }
        if !reply.problems.isEmpty { throw Failure.reported(.invalidData) }
    }

    /// The verbs after `simulate`.
    private static let simulations = VerbGroup(
        title: "Commands", verbs: [simulateMemory] + MachineEvent.allCases.map(simulate))

    private static func simulate(_ event: MachineEvent) -> Verb {
        let word = event.rawValue
        return Verb(
            name: word, summary: event.summary, details: "Returns when the apps are in the states that follow.",
            example: "lifectl simulate \(word)", parameters: .changing
        ) { arguments throws(Failure) in
            let parameters = SimulateParameters(event: event)
            try arguments.options.show(.simulate, parameters, doing: "cannot simulate \(word)") { _, _ in
                "simulated \(word)\n"
            }
        }
    }

    private static var simulateMemory: Verb {
        Verb(
            name: "memory", summary: "Simulate memory pressure.",
            details: """
                warning tells the connected apps. critical tells them, too, and ends one app: the suspended app that was \
                in the foreground longest ago or, if no app is suspended, one that runs in the background. Before that, \
                background scenes are disconnected, and no app is ended if there were any. Returns when the processes \
                are gone.
                """,
            example: "lifectl simulate memory critical",
            parameters: [
                .argument(.level, "normal, warning or critical.", .cases(of: MemoryLevel.self)),
                .flag(.all, "With critical, end every app that may be ended for its memory, one after the other."),
            ] + .changing
        ) { arguments throws(Failure) in
            guard let level = arguments.word(.level, of: MemoryLevel.self) else { return }
            guard level == .critical || !arguments.has(.all) else {
                throw Failure(arguments.usage("--all goes with critical"))
            }
            let parameters = SimulateMemoryPressureParameters(level: level, all: arguments.has(.all))
            let action = "cannot simulate memory pressure"
            try arguments.options.show(.simulateMemoryPressure, parameters, doing: action) { _, reply in
                guard level == .critical else { return "told the connected apps\n" }
                guard !reply.reclaimed.isEmpty else { return "disconnected background scenes, and ended no app\n" }
                return reply.reclaimed.map { "\(Text.printable($0)) was ended for its memory\n" }.joined()
            }
        }
    }
}

extension MachineEvent {
    fileprivate var summary: String {
        switch self {
        case .lock: "Simulate the lock of the session."
        case .unlock: "Simulate the unlock of the session."
        case .sleep: "Simulate that the machine is about to sleep."
        case .wake: "Simulate that the machine wakes."
        case .switchAway: "Simulate a switch to another session."
        case .switchBack: "Simulate the switch back to the session."
        case .timeChange: "Simulate a change of the clock or the time zone."
        }
    }
}
