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
            .flag(.user, "Run as the daemon of this user instead of the system's."),
            .option(.runtimeDirectory, "directory", "The directory of the control socket.", .files("a path")),
            .option(.stateDirectory, "directory", "The directory of the apps' own directories.", .files("a path")),
            .option(.configDirectory, "directory", "The only directory of the configuration.", .files("a path")),
            .option(
                .logTarget, "target", "The target of log entries; console is standard error.",
                .cases(of: LogTarget.self), initial: LogTarget.auto.rawValue),
            .flag(.controllers, "Use the unit's controllers, which its ExecStopPost= removes.", isHidden: true),
            .flag(.check, "Check the configuration, print its mistakes, and exit with 78 if there are any."),
            .flag(.version, "Show the version."),
            .help,
        ],
        groups: [
            .tools,
            VerbGroup(
                title: "",
                verbs: [Verb(name: "--dump-keys", summary: "Print the keys of manifests.", text: { _ in manifestKeys })]
            ),
        ],
        statuses: [
            (EXIT_SUCCESS, "The daemon ended by request, or the configuration has no mistakes."),
            (EXIT_FAILURE, "The daemon cannot start; a line on standard error says why."),
            (EX_USAGE, "The command line is wrong."),
            (EX_IOERR, "The result was not written."),
            (EX_CONFIG, "The configuration has mistakes."),
        ]
    ) { (arguments) throws(DaemonFailure) in
        guard !arguments.has(.version) else { return show(Version.current + "\n") }
        do {
            exit(try run(arguments))
        } catch {
            throw DaemonFailure(error: error)
        }
    }

    /// Does what the options say.
    ///
    /// - Returns: The exit status.
    private static func run(_ arguments: Arguments) throws -> Int32 {
        let options = Options(arguments)
        return try MainActor.assumeIsolated {
            try arguments.has(.check) ? check(options) : Daemon(options: options).run()
        }
    }

    @MainActor private static func check(_ options: Options) throws -> Int32 {
        let problems = try checkConfiguration(options: options)
        for problem in problems { show("\(problem)\n") }
        return problems.isEmpty ? EXIT_SUCCESS : EX_CONFIG
    }
}

/// The error that ends the daemon.
struct DaemonFailure: VerbFailure {
    let error: any Error

    func usage(of arguments: Arguments) -> UsageError {
        let message = "\(error)"
        let consequence = (error as? DaemonError)?.remedy ?? "exiting"
        exit(message + (message.utf8.contains(UInt8(ascii: ";")) ? "" : "; \(consequence)"), status: EXIT_FAILURE)
    }
}

/// Writes a result to standard output. Exits if that fails.
func show(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = unsafe rest.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest.removeFirst(count)
        } else if errno != EINTR {
            let cause = unsafe String(cString: strerror(errno))
            exit("cannot write the result: \(cause); free some space, or write elsewhere", status: EX_IOERR)
        }
    }
}

/// Writes a message to standard error, and exits.
func exit(_ message: String, status: Int32) -> Never {
    let line = Array("lifed: \(message)\n".utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
    exit(status)
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
