import CommandLineTable
import ControlAPI
import Varlink

extension VerbGroup {
    /// The verbs that show the apps and the daemon, as they are and as they were.
    static let inspect = VerbGroup(
        title: "Inspect",
        verbs: [
            Verb(
                name: "list", summary: "List every app that is known.", example: "lifectl list --json",
                parameters: [
                    .flag(
                        .helpers,
                        "List the processes that serve several apps, such as a session bus, instead of the apps."),
                    .ids,
                ], excluding: [[.helpers, .ids], [.ids, .json]]
            ) { arguments in
                let reply = try arguments.options.call(.list, doing: "cannot list the apps")
                if arguments.has(.helpers) {
                    return try arguments.options.show(HelperList(helpers: reply.helpers)) { $0.helpers(reply.helpers) }
                }
                try arguments.show(reply, ids: reply.apps.map { $0.id }) { $0.list(reply.apps) }
            },
            Verb(
                name: "apps", summary: "List what can be launched.",
                details: """
                    What manifests describe and, with the user's own daemon, the desktop entries of installed programs.
                    """,
                example: "lifectl apps",
                parameters: [
                    .flag(.all, "List those too that menus do not show, or that cannot be launched, and why."),
                    .ids,
                ], excluding: [[.ids, .json]]
            ) { arguments in
                let parameters = ListAvailableParameters(all: arguments.trueOrNil(.all))
                let reply = try arguments.options.call(
                    .listAvailable, parameters, doing: "cannot list what can be launched")
                try arguments.show(reply, ids: reply.apps.map { $0.id }) {
                    $0.launchable(reply.apps, all: arguments.has(.all))
                }
            },
            Verb(
                name: "find", summary: "Say which app a process belongs to.",
                details: "Any process of an app will do, not its first alone.", example: "lifectl find 4711",
                parameters: [.process], run: Adoption.find),
            Verb(
                name: "status", summary: "Show an app in detail with its processes, or the daemon.",
                example: "lifectl status org.example.Clock",
                parameters: [
                    .argument(.app, "The id of the app; without it, the daemon is shown.", .apps, isRequired: false)
                ]
            ) { arguments in
                guard let id = arguments[.app] else {
                    return try arguments.options.show(.getStatus, doing: "cannot describe the daemon") {
                        $0.status($1.status)
                    }
                }
                try arguments.options.show(.describe, AppParameters(id: id), doing: "cannot describe \(id)") {
                    $0.details($1.details)
                }
            },
            Verb(
                name: "explain",
                summary: "Say why an app is where it is, what holds it there, and what comes next and when.",
                details: """
                    What comes next is what happens at the latest, if the app stays silent and nobody does anything: the \
                    daemon's machine goes ahead on a copy of itself, and tells. The last that happened comes from the \
                    daemon's memory.
                    """,
                example: "lifectl explain org.example.Clock",
                parameters: [
                    .app,
                    .option(
                        .last, "number", "How much of what happened to show.",
                        .number(from: 0, "a number of events"), initial: "10"),
                ], run: Explain.run),
            Verb(
                name: "log", summary: "Show what happened, to one app or to all.",
                details: """
                    From the journal, with everything that lifed has written there; where the daemon does not write to a \
                    journal, from its memory, which has the last 1024 events of all apps. What an app itself has printed \
                    is another matter: journalctl -t APP.
                    """,
                example: "lifectl log org.example.Clock --since 1h --follow",
                parameters: [
                    .argument(
                        .app, "The id of the app; without it, everything is shown.", .apps, isRequired: false),
                    .flag(.follow, "Go on with what happens from now on.", letter: "f"),
                    .option(
                        .lines, "number", "How many of the last lines. (default: all; 10 with --follow)",
                        .number(from: 0, "a number of lines"), letter: "n"),
                    .flag(.debug, "Show also what is for those who look for a mistake."), .since, .from,
                ], run: Log.run),
            Verb(
                name: "monitor", summary: "Show every change of every app as it happens.",
                details: """
                    The present state comes first. Ends with an interrupt (Ctrl-C), or after --timeout seconds without a \
                    change.
                    """,
                example: "lifectl monitor --json"
            ) { arguments in
                let options = arguments.options
                var session = try Session(options, doing: "cannot go on watching")
                try session.monitor()
                while let reply = try session.nextChange(timeout: options.explicitTimeout) {
                    try options.show(reply) { $0.change(reply) }
                }
                throw Failure.subscriptionEnded
            },
            Verb(
                name: "top",
                summary:
                    "Show the apps as they are, again and again: states, CPU, memory, what holds them and for how long.",
                details: """
                    In a terminal: up and down (or k and j) choose an app, f brings it to the front, s suspends it, r \
                    resumes it, t terminates it, q ends. Elsewhere one table after the other is printed. MEMORY counts \
                    what processes share in each of them.
                    """,
                example: "lifectl top --interval 2",
                parameters: [
                    .option(
                        .interval, "seconds", "How long between two pictures.",
                        .checked("0.1 to 3600 seconds") { Double($0).map { $0 >= 0.1 && $0 <= 3600 } ?? false },
                        initial: "1.0"),
                    .option(
                        .count, "number", "End after so many pictures. (default: never)",
                        .number(from: 1, "a number of pictures"), letter: "n"),
                ], run: Top.run),
            Verb(
                name: "timeline",
                summary: "Draw what happened: a lane an app, a colour a state, callbacks and kills marked.",
                details: """
                    Shows the last ten minutes unless --since says otherwise. --svg writes a picture for browsers and \
                    reports.
                    """,
                example: "lifectl timeline --since 1h --svg timeline.svg",
                parameters: [
                    .option(.svg, "file", "Write an SVG picture into this file; - is standard output.", .files),
                    .since, .from,
                ], excluding: [[.svg, .json]], run: Timeline.run),
            Verb(
                name: "stats", summary: "Show figures: time in each state, how quick switches were, how apps ended.",
                details: """
                    Of the last day, unless --since says otherwise, as far as the journal or the daemon's memory goes \
                    back. A switch is counted from when the app before begins to leave, or this one takes its first \
                    step, until it is active.

                    --openmetrics prints the daemon's own counters, since it was started, for Prometheus and its \
                    relatives.
                    """,
                example: "lifectl stats --since today",
                parameters: [
                    .flag(.openmetrics, "Print the daemon's counters as an OpenMetrics text."), .since, .from,
                ],
                excluding: [[.openmetrics, .json], [.openmetrics, .since], [.openmetrics, .from]], run: Stats.run),
        ])
}

extension Arguments {
    /// Prints a reply, or with `--ids` the ids of what it lists.
    fileprivate func show(_ reply: some JSONWritable, ids names: [String], whole: (Presentation) -> String) throws {
        try options.show(reply) { present in
            has(.ids) ? names.map { "\(Text.printable($0))\n" }.joined() : whole(present)
        }
    }
}
