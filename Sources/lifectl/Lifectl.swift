import ArgumentParser
import ControlAPI

struct Lifectl: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lifectl",
        abstract: "Bring apps to the front, put them to sleep, wake them and end them.",
        discussion: """
            Talks to the user's own daemon if it answers, and else to the system's. --user, --system and --socket decide, \
            as does the variable LIFED_SOCKET.

            Example: lifectl launch org.example.Clock

            Exit status:
            \(Outcome.table)
            """,
        subcommands: [
            Launch.self, Run.self, Focus.self, Home.self, Interrupt.self, Open.self, Continue.self, Simulate.self,
            Suspend.self, Resume.self, Wake.self, Terminate.self, Kill.self, SceneCommand.self, List.self,
            Apps.self, Find.self, Describe.self, Explain.self, Log.self, Monitor.self, Top.self, Timeline.self,
            Stats.self, Doctor.self, Adopt.self, Disown.self, Follow.self, MemoryPressure.self, Reload.self,
            Reexec.self, ShowVersion.self,
        ]
    )
}

extension CommandConfiguration {
    /// Describes a command whose help ends with an example.
    init(
        _ name: String, _ abstract: String, discussion: String = "", example: String,
        subcommands: [any ParsableCommand.Type] = []
    ) {
        let start = discussion.isEmpty ? "" : discussion + "\n\n"
        self.init(
            commandName: name, abstract: abstract, discussion: "\(start)Example: \(example)", subcommands: subcommands)
    }
}

/// A command line of an action and an app's id only: `lifectl focus org.example.Clock`.
///
/// Key bindings and scripts run such lines all the time. ArgumentParser searches the conformances of the whole program some
/// fifty times, which is four fifths of the run time. It reads all other lines; to it, these lines mean the same.
struct PlainLine: Equatable {
    let action: AppAction
    let app: String

    /// Creates the line of these words; nil for any other command line.
    init?(_ words: [String]) {
        guard words.count == 2, let action = AppAction(rawValue: words[0]), !words[1].hasPrefix("-") else { return nil }
        self.action = action
        app = words[1]
    }

    func run() throws { try action.perform(on: app, CallOptions()) }
}
