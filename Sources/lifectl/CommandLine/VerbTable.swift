import ControlAPI

// What lifectl understands: the verbs, whose groups are in Commands, and the options of every verb. The parser, the help, the
// completions and the manual page are made from it.

extension Verb {
    static let lifectl: Verb = Verb(
        name: "lifectl", summary: "Bring apps to the front, put them to sleep, wake them and end them.",
        details: """
            Talks to the user's own daemon if it answers, and else to the system's. --user, --system and --socket decide, \
            as does the variable LIFED_SOCKET. 'lifectl help COMMAND' tells more about a command.
            """,
        example: "lifectl launch org.example.Clock",
        groups: [.apps, .foreground, .inspect, .system, .integrate, .hidden])

    static let help: Verb = Verb(
        name: "help", summary: "Show what lifectl understands, or what one command does.",
        example: "lifectl help scene open",
        parameters: [.argument(.verb, "The command.", isRequired: false, isRepeating: true)]
    ) { arguments in
        var asked = Arguments()
        for word in arguments.all(.verb) { try asked.enter(word) }
        try StandardStream.output.write(Help.text(of: asked.path))
    }
}

extension VerbGroup {
    /// The verbs for scripts.
    fileprivate static let hidden = VerbGroup(
        title: "",
        verbs: [
            Verb(name: "--version", summary: "Print the version of lifectl.") { _ in
                try StandardStream.output.write(Version.current + "\n")
            },
            Verb(
                name: "--complete", summary: "Print the words for one place of a command line.",
                parameters: [.argument(.index, "The place."), .command("The command line.")], run: Completion.run),
            Verb(name: "--dump-table", summary: "Print this table, for the manual page.") { _ in
                try StandardStream.output.write(TableDocument.text(of: .lifectl, path: Verb.lifectl.name))
            },
        ])
}

extension Arguments {
    var app: String { required(.app) }

    /// The options of every verb.
    var options: CallOptions {
        let other: SocketPath.Choice = has(.system) ? .system : has(.user) ? .user : .automatic
        return CallOptions(
            choice: self[.socket].map { .path($0) } ?? other, isJSON: has(.json),
            explicitTimeout: self[.timeout].flatMap { Double($0) }.map { .seconds($0) })
    }
}

extension Parameter {
    /// The options of every verb.
    static let common: [Parameter] = [
        .flag(.system, "Talk to the system's daemon."),
        .flag(.user, "Talk to the user's own daemon."),
        .option(.socket, "path", "Talk to the daemon that listens at this path.", .nonEmpty("a path")),
        // Read by RemoteHost; here for the help.
        .option(.host, "user@host", "Run the command on another machine, through ssh."),
        .flag(.json, "Print JSON: one object, or one a line."),
        .option(
            .timeout, "seconds",
            "How long to wait for an answer, in seconds. (default: 60; none for monitor)",
            .checked("a positive number of seconds") { Double($0).map { $0 > 0 && $0 <= 1e9 } ?? false }),
        // Read by the parser before all others.
        .flag(.help, "Show the help.", letter: "h"),
    ]

    static let commonExclusions: [[Name]] = [[.system, .user, .socket]]

    // MARK: Of several verbs

    static let app = Parameter.argument(.app, "The id of the app.", .apps)
    static let process = Parameter.argument(.pid, "The number of the process.", .processes)
    static let scene = Parameter.argument(.scene, "The scene, as APP/SCENE.", .scenes)
    static let ids = Parameter.flag(.ids, "Print the ids only, one a line.")
    static let wait = Parameter.option(
        .wait, "goal",
        "What to wait for: that the app is active, or that it has answered did-become-active. (default: active)",
        .cases(of: WaitGoal.self))
    static let since = Parameter.option(
        .since, "time",
        "From when on: a time (12:30, 2026-11-22, \"2026-11-22 12:30:00\", today) or how long ago (10min, 2h, 1d).",
        .checked(TimeArgument.words) { TimeArgument(argument: $0) != nil })
    static let from = Parameter.option(
        .from, "place",
        "Where to look: journal or daemon. (default: the journal, if the daemon writes there)",
        .cases(of: HistoryPlace.self))

    /// The names of all arguments and options, as they are typed.
    enum Name: String, Sendable {
        case activity, all, answer, app, background, command, count, debug, event, follow, from, help, helpers, host
        case id, ids, index, info, interval, json, last, level, lines, name, now, openmetrics, payload, pid, role
        case scene, setenv, since, socket, source, svg, system, timeout, type, url, user, verb, wait
        case byRule = "by-rule"
        case dryRun = "dry-run"
        case kind = "for"
    }
}

extension Values {
    static let apps = Values.listed { session in try session.call(.list).apps.map { $0.id } }
    static let launchableApps = Values.listed { session in
        let known = try session.call(.list).apps.map { $0.id }
        return known
            + (try session.call(.listAvailable, ListAvailableParameters()).apps.map { $0.id }).filter {
                !known.contains($0)
            }
    }
    static let scenes = Values.listed { session in
        ListedScenes(apps: try session.call(.list).apps).scenes.map { $0.name.text }
    }

    static func cases<Word: CaseIterable & RawRepresentable<String>>(of type: Word.Type) -> Values {
        .oneOf(type.allCases.map { $0.rawValue })
    }

    static func number(from least: Int, _ words: String) -> Values {
        .checked(words) { Int($0).map { $0 >= least } ?? false }
    }

    static func nonEmpty(_ words: String) -> Values { .checked(words) { !$0.isEmpty } }
}
