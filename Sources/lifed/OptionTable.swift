import CommandLineTable
import ControlAPI
import Glibc
import LifecycleDaemon

extension Verb {
    /// The options of lifed.
    static let lifed = Verb(
        name: "lifed", summary: "The application life cycle for Linux processes.",
        example: "lifed --user --log-target=console",
        parameters: [
            .flag(.user, "Be this user's daemon rather than the system's."),
            .option(.runtimeDirectory, "directory", "Where the control socket is.", .files),
            .option(.stateDirectory, "directory", "Where the apps' own directories are.", .files),
            .option(.configDirectory, "directory", "The only place to read the configuration from.", .files),
            .option(
                .logTarget, "target", "Where log entries go; console is standard error.",
                .cases(of: LogTarget.self), initial: LogTarget.auto.rawValue),
            .flag(.controllers, "Use the unit's controllers, which its ExecStopPost= takes away.", isHidden: true),
            .flag(.check, "Check the configuration, print what is wrong with it, and exit with 78 if something is."),
            .flag(.rescue, "Let every app run that a daemon has left stopped, if it runs no more, and exit."),
            .flag(.version, "Show the version."),
            .help,
        ],
        excluding: [[.check, .rescue]], groups: [.tools],
        statuses: [
            ExitStatus(EXIT_SUCCESS, "It ended as it was asked to, or the configuration is in order."),
            ExitStatus(EXIT_FAILURE, "It could not start; a line on standard error says why."),
            ExitStatus(EX_USAGE, "The options were wrong."),
            ExitStatus(EX_CONFIG, "--check has found something."),
        ]
    ) { arguments in
        guard !arguments.has(.version) else { return print(Version.current) }
        let options = Options(arguments)
        let code = try MainActor.assumeIsolated {
            if arguments.has(.check) { return try check(options) }
            return try arguments.has(.rescue) ? rescue(options: options) : Daemon(options: options).run()
        }
        exit(code)
    }

    @MainActor private static func check(_ options: Options) throws -> Int32 {
        let problems = try checkConfiguration(options: options)
        for problem in problems { print(problem) }
        return problems.isEmpty ? EXIT_SUCCESS : EX_CONFIG
    }
}

extension Options {
    init(_ arguments: Arguments) {
        self.init(
            isUser: arguments.has(.user), runtimeDirectory: arguments[.runtimeDirectory],
            stateDirectory: arguments[.stateDirectory], configurationDirectory: arguments[.configDirectory],
            logTarget: arguments.word(.logTarget, of: LogTarget.self) ?? .auto,
            usesControllers: arguments.has(.controllers))
    }
}
