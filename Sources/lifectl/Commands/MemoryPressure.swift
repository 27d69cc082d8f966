public import ArgumentParser
public import ControlAPI

struct MemoryPressure: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory-pressure",
        abstract: "Do what is done when memory is short, to see what apps make of it.",
        discussion: """
            warning tells the apps that listen. critical tells them, too, and ends one app: the suspended one that was in \
            front longest ago, or, where none is suspended, one that runs out of sight. Scenes out of sight are \
            disconnected before, and no app is ended as long as there were any. Done when its processes are gone.

            Example: lifectl memory-pressure critical
            """)

    @Argument(help: "How short memory is to be: normal, warning or critical.")
    var level: MemoryLevel

    @Flag(help: "With critical, end every app that may be ended for its memory, one after the other.")
    var all = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !all || level == .critical else { throw ValidationError("--all goes with critical") }
    }

    func run() throws {
        var session = try Session(options, doing: "cannot simulate memory pressure")
        let reply = try session.call(.simulateMemoryPressure, MemoryPressureParameters(level: level, all: all))
        try options.show(reply) { _ in
            guard level == .critical else { return "apps that run and listen were told, if there are any\n" }
            guard !reply.reclaimed.isEmpty else {
                return "scenes out of sight were disconnected, and no app was ended\n"
            }
            return reply.reclaimed.map { "\(Text.printable($0)) was ended for its memory\n" }.joined()
        }
    }
}

extension MemoryLevel: ExpressibleByArgument {}
