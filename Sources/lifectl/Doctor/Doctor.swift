import ArgumentParser
import ControlAPI

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Look at everything that lifed needs, and say what is missing and what that costs.",
        discussion: """
            The daemon and its socket, its configuration, control groups and controllers, memory pressure, the journal, the \
            kernel, and the units. Exits with 1 when something does not work, and with 0 when lifed works, if only with less.

            Example: lifectl doctor
            """)

    @OptionGroup var options: GlobalOptions

    func run() throws {
        let examination = Examination(Surroundings.look(options))
        try options.show(examination) { present in present.examination(examination) }
        if examination.isBad { throw ExitCode(Outcome.failed.rawValue) }
    }
}
