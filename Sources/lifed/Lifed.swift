public import ArgumentParser
import ControlAPI
import Glibc
public import LifecycleDaemon

@main
struct Lifed: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lifed", abstract: "The application life cycle for Linux processes.",
        discussion: "Example: lifed --user --log-target=console", version: Version.current)

    @Flag(help: "Be this user's daemon rather than the system's.")
    var user = false

    @Option(help: ArgumentHelp("Where the control socket is.", valueName: "directory"))
    var runtimeDirectory: String?

    @Option(help: ArgumentHelp("Where the apps' own directories are.", valueName: "directory"))
    var stateDirectory: String?

    @Option(help: ArgumentHelp("The only place to read the configuration from.", valueName: "directory"))
    var configDirectory: String?

    @Option(help: "Where log entries go: journal, console (standard error) or auto.")
    var logTarget = LogTarget.auto

    @Flag(help: ArgumentHelp("Use the unit's controllers, which its ExecStopPost= takes away.", visibility: .hidden))
    var controllers = false

    @Flag(help: "Check the configuration, print what is wrong with it, and exit with 78 if something is.")
    var check = false

    @Flag(help: "Let every app run that a daemon has left stopped, if it runs no more, and exit.")
    var rescue = false

    func validate() throws {
        if check && rescue { throw ValidationError("--check and --rescue do not go together") }
    }

    func run() throws {
        let options = Options(
            isUser: user, runtimeDirectory: runtimeDirectory, stateDirectory: stateDirectory,
            configurationDirectory: configDirectory, logTarget: logTarget, usesControllers: controllers)
        let code = try MainActor.assumeIsolated {
            if check { return try report(options) }
            return try rescue ? LifecycleDaemon.rescue(options: options) : Daemon(options: options).run()
        }
        throw ExitCode(code)
    }

    @MainActor private func report(_ options: Options) throws -> Int32 {
        let problems = try checkConfiguration(options: options)
        for problem in problems { print(problem) }
        return problems.isEmpty ? EXIT_SUCCESS : EX_CONFIG
    }
}

extension LogTarget: ExpressibleByArgument {}
