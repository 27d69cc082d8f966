import CLinux
import CommandLineTable
import ControlAPI

/// `lifectl interrupt`
enum Interruption {
    static func begin(_ arguments: Arguments) throws(Failure) {
        let subject = subject(arguments[.name])
        let parameters = BeginInterruptionParameters(name: arguments[.name])
        try arguments.options.show(.beginInterruption, parameters, doing: "cannot begin \(subject)") { _, _ in
            "\(subject) has begun\n"
        }
    }

    static func end(_ arguments: Arguments) throws(Failure) {
        let subject = subject(arguments[.name])
        let parameters = EndInterruptionParameters(name: arguments[.name], answer: arguments[.answer])
        try arguments.options.show(.endInterruption, parameters, doing: "cannot end \(subject)") { _, _ in
            "\(subject) has ended\n"
        }
    }

    private static func subject(_ name: String?) -> String {
        name.map { "the interruption \(Text.printable($0))" } ?? "the interruption"
    }

    /// Interrupts the foreground for as long as a command runs, and exits with the status of the command.
    static func run(_ arguments: Arguments) throws(Failure) {
        let command = arguments.all(.command)
        // Two commands without a name must not end each other's interruption.
        let name = arguments[.name] ?? "lifectl-\(getpid())"
        let options = arguments.options
        // Blocks the signals that would leave the interruption behind.
        let program = ForegroundProgram()
        // If lifectl is killed, its connection ends, and the interruption with it.
        var session = try Session(options, doing: "cannot begin the interruption \(name)")
        _ = try session.call(.beginInterruption, BeginInterruptionParameters(name: name, whileConnected: true))
        let outcome = Result { () throws(Failure) in try program.run(command) }
        // The status of the command counts, also if the daemon cannot be told.
        do throws(Failure) {
            // The connection may have ended with a former daemon.
            _ = try options.call(
                .endInterruption, EndInterruptionParameters(name: name), doing: "cannot end the interruption \(name)")
        } catch {
            error.show(isJSON: false)
        }
        exit(try outcome.get())
    }
}
