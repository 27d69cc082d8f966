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
            Reexec.self,
            ShowVersion.self,
        ]
    )
}

/// A line of nothing but an action and an app's id: `lifectl focus org.example.Clock`.
///
/// Keys, buttons and scripts give such lines all the time. ArgumentParser has the Swift runtime look some fifty times through
/// everything that is linked in, whatever the line, which is four fifths of what the program does. So it is left to all other
/// lines; these mean the same to it.
struct PlainLine: Equatable {
    let action: AppAction
    let app: String

    /// nil where there are options, too many words or too few, or another command.
    init?(_ words: [String]) {
        guard words.count == 2, let action = AppAction(rawValue: words[0]), !words[1].hasPrefix("-") else { return nil }
        self.action = action
        app = words[1]
    }

    func run() throws { try action.perform(on: app, CallOptions()) }
}
