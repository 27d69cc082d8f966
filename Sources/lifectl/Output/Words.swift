import ControlAPI

/// The short words of the interface, as people say them.
enum Words {
    /// Why an app is where it is, as the end of a sentence that begins with what it is; the word itself where this
    /// program does not know it.
    static func reason(_ word: String) -> String {
        reasons[word] ?? Text.printable(word)
    }

    private static let reasons = [
        "none": "nothing has happened to it yet",
        "launch": "somebody launched it",
        "adopt": "it ran already, and was adopted",
        "disown": "somebody let go of it, and it runs on by itself",
        "boot": "it is to run from the start of the daemon on",
        "restart": "it had ended by itself, and is to be started again",
        "previous": "the app in front has ended, and this one was there before",
        "focus": "somebody brought it to the front",
        "home": "somebody went home, or nothing else was in front",
        "displaced": "another app came to the front",
        "interruption": "an interruption began",
        "interruption-ended": "the last interruption ended",
        "suspend": "somebody put it to sleep",
        "idle": "its time out of sight is over, and nothing holds it there",
        "resume": "somebody woke it",
        "terminate": "somebody asked it to end",
        "kill": "somebody ended it without asking",
        "url": "it was to open something",
        "activity": "it was to go on with an activity",
        "visible": "it came to be on the screen",
        "playing": "it plays",
        "wake": "it was woken for some work",
        "scene": "somebody wanted a scene of it",
        "sent-back": "somebody sent it to the background",
        "closed": "its last scene in front was closed",
        "locked": "the session was locked",
        "unlocked": "the session was unlocked",
        "switched-away": "the seat shows another session",
        "switched-back": "the seat shows the session again",
        "sleep": "the machine is about to sleep",
        "awake": "the machine is awake again",
        "shutdown": "the daemon is stopping",
        "exit": "it ended by itself, with success",
        "crash": "it crashed, or was ended by a signal that lifed did not send",
        "launch-failed": "it could not be started",
        "background-timeout": "it did not answer did-enter-background in time",
        "task-timeout": "it did not end its background tasks in time",
        "launch-timeout": "it did not answer the launch callbacks in time",
        "reclaimed": "its memory was needed",
    ]

    /// What an app is doing, behind its name.
    static func state(_ state: State) -> String {
        switch state {
        case .notRunning: "is not running"
        case .inactive: "is in front, and gets no events (inactive)"
        case .active: "is in front and in use (active)"
        case .background: "runs out of sight (background)"
        case .suspended: "sleeps: every process of it is stopped (suspended)"
        case .terminating: "is ending (terminating)"
        }
    }
}
