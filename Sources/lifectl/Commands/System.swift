import LifecycleTypes

public import ArgumentParser
import ControlAPI

// The commands about the daemon, and about events of the machine.

struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        "simulate", "Do to the apps what locking, sleeping or setting the clock would do.",
        discussion: """
            The machine itself is left alone. Events are lock, unlock, sleep, wake, switch-away, switch-back and time-change.
            """, example: "lifectl simulate lock")

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
        let parameters = SimulateParameters(event: event.parameter)
        try options.show(.simulate, parameters, doing: "cannot simulate \(event.rawValue)") { _, _ in
            "the apps have done what follows from \(event.rawValue)\n"
        }
    }
}

struct MemoryPressure: ParsableCommand {
    static let configuration = CommandConfiguration(
        "memory-pressure", "Do what is done when memory is short, to see what apps make of it.",
        discussion: """
            warning tells the apps that listen. critical tells them, too, and ends one app: the suspended one that was in \
            front longest ago, or, where none is suspended, one that runs out of sight. Scenes out of sight are \
            disconnected before, and no app is ended as long as there were any. Done when its processes are gone.
            """, example: "lifectl memory-pressure critical")

    @Argument(help: "How short memory is to be: normal, warning or critical.")
    var level: MemoryLevel

    @Flag(help: "With critical, end every app that may be ended for its memory, one after the other.")
    var all = false

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !all || level == .critical else { throw ValidationError("--all goes with critical") }
    }

    func run() throws {
        let parameters = SimulateMemoryPressureParameters(level: level, all: all)
        try options.show(.simulateMemoryPressure, parameters, doing: "cannot simulate memory pressure") { _, reply in
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
        "reload", "Read the configuration and the manifests again.",
        discussion: "Running apps stay as they are. Problems are printed.", example: "lifectl reload")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        try options.show(.reload, doing: "cannot reload the configuration") { $0.problems($1.problems) }
    }
}

struct Reexec: ParsableCommand {
    static let configuration = CommandConfiguration(
        "reexec", "Execute the daemon's program again in its process, as after an upgrade.",
        discussion: """
            Apps stay as they are and remain the daemon's children. Only administrators may do it. If the program \
            cannot be executed, the daemon goes on as it is.
            """, example: "lifectl --system reexec")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        try options.show(.reexecute, doing: "cannot execute the daemon again") { _, _ in "" }
    }
}

struct ShowVersion: ParsableCommand {
    static let configuration = CommandConfiguration(
        "version", "Print the version of lifectl and, if it answers, of the daemon.", example: "lifectl version")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        // The version of the client is known without the daemon, whatever keeps the daemon from answering.
        let status = try? options.call(.getStatus, doing: "cannot ask the daemon").status
        let versions = Versions(client: Version.current, daemon: status?.version)
        try options.show(versions) { _ in
            let daemon = versions.daemon.map(Text.printable) ?? "does not answer"
            return "lifectl \(versions.client)\nlifed   \(daemon)\n"
        }
    }
}
