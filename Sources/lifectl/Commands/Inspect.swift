import CommandLineTable
import ControlAPI
import Varlink

extension VerbGroup {
    /// The verbs that explain states, and show changes and statistics.
    static let inspect = VerbGroup(
        title: "Inspect",
        verbs: [
            Verb(
                name: "explain", summary: "Explain the state of an app, its conditions and its next events.",
                details: """
                    Shows what keeps the app in its state, and the next changes if the app does not answer and no command \
                    is given: the daemon's state machine advances on a copy of itself. The events come from the daemon's \
                    memory.
                    """,
                example: "lifectl explain org.example.Clock",
                parameters: [
                    .app,
                    .option(
                        .last, "number", "The number of past events to show.",
                        .number(from: 0, "a number of events"), initial: "10"),
                ], run: Explain.run),
            Verb(
                name: "log", summary: "Show the events of an app, or of all apps.",
                details: """
                    Reads the daemon's entries in the journal; if the daemon does not write to a journal, its memory, \
                    which has the last 1024 events. With --follow, a missed callback or a failed launch in the memory is \
                    shown at the next transition. The output of an app itself is shown by journalctl -t APP.
                    """,
                example: "lifectl log org.example.Clock --since 1h --follow",
                parameters: [
                    .argument(.app, "The id of the app. (default: all apps)", .apps, isRequired: false),
                    .flag(.follow, "Show new events as they happen.", letter: "f"),
                    .option(
                        .lines, "number", "The number of last lines to show. (default: all; 10 with --follow)",
                        .number(from: 0, "a number of lines"), letter: "n"),
                    .flag(.debug, "Show entries for debugging, too."), .since, .from,
                ], run: LogCommand.run),
            Verb(
                name: "monitor", summary: "Show every change of every app as it happens.",
                details: """
                    Shows the present state first. Runs until it is interrupted (Ctrl-C), or until no app has changed for \
                    --timeout seconds.
                    """,
                example: "lifectl monitor --json"
            ) { arguments throws(Failure) in
                let options = arguments.options
                let session = try DaemonConnection(options, doing: "cannot monitor the apps")
                try session.monitor()
                while let reply = try session.nextChange(timeout: options.explicitTimeout) {
                    try options.show(reply) { $0.change(reply) }
                }
                throw Failure.subscriptionEnded
            },
            Verb(
                name: "top", summary: "Show states, CPU and memory of the apps, again and again.",
                details: """
                    Keys in a terminal: up and down (or k and j) choose an app, f brings it to the foreground, s suspends \
                    it, r resumes it, t terminates it, q quits. Elsewhere one table after the other is printed. MEMORY \
                    counts shared memory in each process.
                    """,
                example: "lifectl top --interval 2",
                parameters: [
                    .option(
                        .interval, "seconds", "The time between two updates.",
                        .checked("0.1 to 3600 seconds") { Double($0).map { $0 >= 0.1 && $0 <= 3600 } ?? false },
                        initial: "1.0"),
                    .option(
                        .count, "number", "The number of updates before the end. (default: no end)",
                        .number(from: 1, "a number of updates"), letter: "n"),
                ], run: Top.run),
            Verb(
                name: "timeline", summary: "Draw the states of the apps over time.",
                details: """
                    Draws a lane for each app and a colour for each state, with callbacks and kills marked: the last ten \
                    minutes, unless --since gives a start.
                    """,
                example: "lifectl timeline --since 1h --svg timeline.svg",
                parameters: [
                    .option(.svg, "file", "Write an SVG picture to this file; - is standard output.", .files("a path")),
                    .since, .from,
                ], excluding: [[.svg, .json]], run: Timeline.run),
            Verb(
                name: "stats", summary: "Show statistics: times in states, of switches and launches.",
                details: """
                    Counts the last day, unless --since gives a start, as far as the journal or the daemon's memory \
                    reaches. A switch lasts from the first step of either app until the new one is active.

                    --openmetrics prints the daemon's counters since its start, for Prometheus.
                    """,
                example: "lifectl stats --since today",
                parameters: [
                    .flag(.openmetrics, "Print the daemon's counters as an OpenMetrics text."), .since, .from,
                ],
                excluding: [[.openmetrics, .json], [.openmetrics, .since], [.openmetrics, .from]], run: Stats.run),
            Verb(
                name: "doctor", summary: "Check what lifed needs, and name a remedy for each problem.",
                details: """
                    Checks the daemon and its socket, the configuration, control groups and controllers, memory pressure, \
                    the journal, the kernel, and the units. The exit status is 1 if a check failed, and 0 if lifed works, \
                    with limits or without.
                    """,
                example: "lifectl doctor", run: Doctor.run),
        ])
}

/// `lifectl list`
enum List {
    static func run(_ arguments: Arguments) throws(Failure) {
        guard arguments.has(.available) || !arguments.has(.all) else {
            throw Failure(arguments.usage("--all goes with --available"))
        }
        if arguments.has(.available) { return try listAvailable(arguments) }
        let reply = try arguments.options.call(.list, doing: "cannot list the apps")
        if arguments.has(.helpers) {
            return try arguments.options.show(HelperList(helpers: reply.helpers)) { $0.helpers(reply.helpers) }
        }
        try show(reply, arguments, ids: reply.apps.map { $0.id }) { $0.list(reply.apps) }
    }

    private static func listAvailable(_ arguments: Arguments) throws(Failure) {
        let parameters = ListAvailableParameters(all: arguments.trueOrNil(.all))
        let reply = try arguments.options.call(
            .listAvailable, parameters, doing: "cannot list the apps that can be launched")
        try show(reply, arguments, ids: reply.apps.map { $0.id }) {
            $0.availableApps(reply.apps, all: arguments.has(.all))
        }
    }

    /// Prints a reply, or with `--ids` the ids of what it lists.
    private static func show(
        _ reply: some JSONWritable, _ arguments: Arguments, ids names: [String], whole: (TextPresentation) -> String
    ) throws(Failure) {
        try arguments.options.show(reply) { present in
            arguments.has(.ids) ? names.map { "\(Text.printable($0))\n" }.joined() : whole(present)
        }
    }
}

/// `lifectl status`
enum AppStatus {
    static func run(_ arguments: Arguments) throws(Failure) {
        let options = arguments.options
        if arguments.has(.follow) { return try StatusLine.run(arguments) }
        guard !arguments.has(.format) else { throw Failure(arguments.usage("--format goes with --follow")) }
        if let pid = arguments.number(.pid) {
            let app = try app(of: Int64(pid), options)
            return try show(app, options, doing: "cannot describe the app of process \(pid)")
        }
        guard let id = arguments[.app] else {
            return try options.show(.getStatus, doing: "cannot describe the daemon") { $0.status($1.status) }
        }
        try show(id, options, doing: "cannot describe \(id)")
    }

    private static func show(_ id: String, _ options: CallOptions, doing action: String) throws(Failure) {
        try options.show(.describe, AppParameters(id: id), doing: action) { $0.details($1.details) }
    }

    private static func app(of pid: Int64, _ options: CallOptions) throws(Failure) -> String {
        let action = "cannot find the app of process \(pid)"
        guard let app = try options.call(.findApp, FindAppParameters(pid: pid), doing: action).app else {
            throw Failure(.noSuchApp, action, "the process belongs to no app", remedy: "'lifectl list' shows the apps")
        }
        return app.id
    }
}
