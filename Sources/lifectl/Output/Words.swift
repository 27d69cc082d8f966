import ControlAPI
import LifecycleTypes

/// The short words of the interface, as people say them.
enum Words {
    /// Returns why an app is where it is, as a clause about the app; the word itself where this program does not know it.
    static func reason(_ word: String) -> String {
        Reason(rawValue: word)?.meaning ?? Text.printable(word)
    }

    /// Returns how an app ended, as a clause about the app.
    static func end(_ reason: String, exitCode: Int64?, signal: Int64?) -> String {
        guard reason == Reason.crash.rawValue else { return self.reason(reason) }
        if let exitCode { return "it exited with status \(exitCode)" }
        return signal.map { "it was ended by \(SignalName.name($0)), which lifed did not send" } ?? self.reason(reason)
    }

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
