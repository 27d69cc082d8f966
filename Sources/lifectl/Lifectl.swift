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
