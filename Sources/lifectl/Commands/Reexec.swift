import ArgumentParser
import ControlAPI

struct Reexec: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reexec",
        abstract: "Execute the daemon's program again in its process, as after an upgrade.",
        discussion: """
            Apps stay as they are and remain the daemon's children. Only administrators may do it. If the program \
            cannot be executed, the daemon goes on as it is.

            Example: lifectl --system reexec
            """)

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot execute the daemon again")
        let reply = try session.call(.reexecute)
        try options.show(reply) { _ in "" }
    }
}
