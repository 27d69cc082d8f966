public import ArgumentParser
public import ControlAPI

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Do to the apps what locking, sleeping or setting the clock would do.",
        discussion: """
            The machine itself is left alone. Events are lock, unlock, sleep, wake, switch-away, switch-back and time-change.

            Example: lifectl simulate lock
            """)

    enum Event: String, ExpressibleByArgument, CaseIterable {
        case lock, unlock, sleep, wake
        case switchAway = "switch-away"
        case switchBack = "switch-back"
        case timeChange = "time-change"

        var parameter: MachineEvent {
            switch self {
            case .lock: .lock
            case .unlock: .unlock
            case .sleep: .sleep
            case .wake: .wake
            case .switchAway: .switchAway
            case .switchBack: .switchBack
            case .timeChange: .timeChange
            }
        }
    }

    @Argument(help: ArgumentHelp("What is to happen.", valueName: "event"))
    var event: Event

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot simulate \(event.rawValue)")
        let reply = try session.call(.simulate, SimulateParameters(event: event.parameter))
        try options.show(reply) { _ in "the apps have done what follows from \(event.rawValue)\n" }
    }
}

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

struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Read the configuration and the manifests again.",
        discussion: "Running apps stay as they are. Problems are printed.\n\nExample: lifectl reload")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var session = try Session(options, doing: "cannot reload the configuration")
        let reply = try session.call(.reload)
        try options.show(reply) { present in present.problems(reply.problems) }
    }
}

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

struct ShowVersion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version",
        abstract: "Print the version of lifectl and, if it answers, of the daemon.",
        discussion: "Example: lifectl version")

    @OptionGroup var options: GlobalOptions

    struct Versions: Codable, Equatable {
        var client: String
        @Nullable var daemon: String?
    }

    func run() throws {
        let versions = Versions(client: Version.current, daemon: daemonVersion())
        try options.show(versions) { _ in
            let daemon = versions.daemon.map(Text.printable) ?? "does not answer"
            return "lifectl \(versions.client)\nlifed   \(daemon)\n"
        }
    }

    /// Nil whatever the reason: the client's version is known without the daemon.
    private func daemonVersion() -> String? {
        do {
            var session = try Session(options, doing: "cannot ask the daemon")
            return try session.call(.getStatus).status.version
        } catch {
            return nil
        }
    }
}
