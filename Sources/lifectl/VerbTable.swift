import CommandLineTable
import ControlAPI

// The verbs of lifectl, whose groups are in Commands, and the options of every verb.

extension Verb {
    static let lifectl: Verb = Verb(
        name: "lifectl", summary: "Control the life cycle of apps.",
        details: """
            'lifectl help COMMAND' describes a command, 'lifectl help exit-codes' the exit statuses. Without --user, \
            --system and --socket, the daemon is the one that the variable LIFED_SOCKET names, or else the user's own \
            if it answers, or else the system's.
            """,
        example: "lifectl launch org.example.Clock",
        parameters: [
            .flag(.system, "Call the system's daemon."),
            .flag(.user, "Call the user's own daemon."),
            .option(.socket, "path", "Call the daemon that listens at this path.", .nonEmpty("a path")),
            // Read by RemoteHost; here for the help.
            .option(.host, "user@host", "Run the command on another machine, through ssh(1)."),
            .flag(.json, "Print JSON: one object, or one a line; a failure, too, is one object."),
            .option(
                .timeout, "seconds",
                "The longest time to wait for an answer. (default: 60; none for monitor and with --follow)",
                .checked("a positive number of seconds") { Double($0).map { $0 > 0 && $0 <= 1e9 } ?? false }),
            .flag(.version, "Print the version."),
            .help,
        ],
        excluding: [[.system, .user, .socket]],
        groups: [
            .apps, .foreground, .inspect, .system, .integrate, .tools,
            VerbGroup(title: "", verbs: [.help(example: "lifectl help scene open")]),
            VerbGroup(
                title: "",
                verbs: [
                    Verb(
                        name: "--version", summary: "Print the version of lifectl.",
                        text: { _ in Version.current + "\n" })
                ]),
        ],
        statuses: ExitCode.allCases.map { ($0.rawValue, $0.meaning) })
}

extension Arguments {
    var app: String { required(.app) }

    /// The options of every verb.
    var options: CallOptions {
        let other: SocketPath.Choice = has(.system) ? .system : has(.user) ? .user : .automatic
        return CallOptions(
            choice: self[.socket].map { .path($0) } ?? other, isJSON: has(.json),
            explicitTimeout: self[.timeout].flatMap(Double.init).map { .seconds($0) }, isQuiet: has(.quiet),
            waits: !has(.noWait))
    }
}

// MARK: - Of several verbs

extension Parameter {
    static let app = Parameter.argument(.app, "The id of the app.", .apps)
    static let apps = Parameter.argument(.app, "The id of the app, or several ids.", .apps, isRepeating: true)
    static let scene = Parameter.argument(.scene, "The scene, as APP/SCENE.", .scenes)
    static let process = Parameter.argument(.pid, "The number of the process.", .processes)
    static let ids = Parameter.flag(.ids, "Print the ids only, one a line.")
    static let quiet = Parameter.flag(.quiet, "Print nothing if the command succeeds.", letter: "q")
    static let noWait = Parameter.flag(
        .noWait,
        "Return when the request is made, and print nothing. The exit status does not tell whether the daemon refuses it."
    )
    static let wait = Parameter.option(
        .wait, "goal",
        "The state to wait for: the app is active, or it has also answered did-become-active. (default: active)",
        .cases(of: APIWaitGoal.self))
    static let since = Parameter.option(
        .since, "time",
        "The start: a time (12:30, 2026-11-22, \"2026-11-22 12:30:00\", today) or an age (10min, 2h, 1d).",
        .checked(TimeArgument.words) { TimeArgument(argument: $0) != nil })
    static let from = Parameter.option(
        .from, "place",
        "The source: journal or daemon. (default: the journal, if the daemon writes to it)",
        .cases(of: HistoryOrigin.self))
}

extension [Parameter] {
    /// The options of a verb that changes something.
    static let changing = [Parameter.quiet, .noWait]
}

extension Values {
    static let apps = DaemonNames.values(.appID) { session throws(Failure) in
        try session.call(.list).apps.map { $0.id }
    }
    static let launchableApps = DaemonNames.values(.appID) { session throws(Failure) in
        let known = try session.call(.list).apps.map { $0.id }
        let all = try session.call(.listAvailable, ListAvailableParameters()).apps.map { $0.id }
        return known + all.filter { !known.contains($0) }
    }
    static let scenes = DaemonNames.values { session throws(Failure) in
        ListedScenes(apps: try session.call(.list).apps).scenes.map { $0.name.text }
    }

    static let appID = Values.nonEmpty("the id of an app")
    static let processes = Values.known(
        .checked("the number of a process, which is 1 to 2147483647") { Int32($0).map { $0 >= 1 } ?? false }
    ) { _ in
        guard let ps = try? ChildProcess(["ps", "-eo", "pid="]) else { return [] }
        return sequence(state: ps) { $0.nextLine() }.map {
            String(decoding: $0.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
        }
    }

    static func number(from least: Int, _ words: String) -> Values {
        .checked(words) { Int($0).map { $0 >= least } ?? false }
    }

    static func nonEmpty(_ words: String) -> Values { .checked(words) { !$0.isEmpty } }
}

/// The names that the daemon of an unfinished command line knows, for completions.
enum DaemonNames {
    /// The time for an answer of the daemon.
    private static let patience = Duration.seconds(2)

    /// Returns values of which some are the answer to a question. The tabulator key prints no messages.
    static func values(
        _ values: Values = .text, _ question: @escaping @Sendable (DaemonConnection) throws(Failure) -> [String]
    ) -> Values {
        .known(values) { line in
            guard var options = options(of: line, environment: Environment.value) else { return [] }
            options.explicitTimeout = patience
            guard let session = try? DaemonConnection(options, doing: "cannot complete the command line") else {
                return []
            }
            return ((try? question(session)) ?? []).map(Text.printable)
        }
    }

    /// Returns the options that name the daemon; nil if it cannot be known.
    static func options(of line: CommandLineParser, environment: (String) -> String?) -> CallOptions? {
        // Another machine takes long, and may need a password.
        guard !line.arguments.has(.host), line.pending?.name != .socket, line.pending?.name != .host else { return nil }
        var options = line.arguments.options
        if let socket = line.arguments[.socket] {
            guard let path = ShellWord.meaning(of: socket, environment: environment) else { return nil }
            options.choice = .path(path)
        }
        return options
    }
}
