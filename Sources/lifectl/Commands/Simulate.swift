import ArgumentParser
import ControlAPI

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
