import ControlAPI
import LifecycleCore
import Processes

/// The reason and the remedy of each refusal of the core.
extension ControlError {
    init(_ refusal: Refusal) {
        switch refusal {
        case .noSuchApp(let id):
            self.init(
                .noSuchApp, id: id.name, reason: "there is no such app", remedy: "'lifectl list' shows those there are."
            )
        case .notRunning(let id):
            self.init(
                .notRunning, id: id.name, reason: "it is not running", remedy: "'lifectl launch \(id)' starts it.")
        case .terminating(let id):
            self.init(
                .refused, id: id.name, reason: "it is ending",
                remedy: "'lifectl launch \(id)' starts it again when it is gone.")
        case .neverSuspended(let id):
            self.init(
                .refused, id: id.name, reason: "its manifest says suspend = \"never\"",
                remedy: "Change the manifest and 'lifectl reload', or end the app with 'lifectl terminate \(id)'.")
        case .homeStaysInForeground(let id):
            self.init(
                .refused, id: id.name, reason: "it is the home app, and nothing else is in front",
                remedy: "Bring another app to the front first.")
        case .noSuchScene(let id, let scene):
            self.init(
                .noSuchScene, id: id.name, reason: "it has no scene \(scene)",
                remedy: "'lifectl scene list \(id)' shows those it has.")
        case .noScenes(let id):
            self.init(
                .noSuchScene, id: id.name, reason: "its manifest did not say scenes = true when it was launched",
                remedy: "Change the manifest, 'lifectl reload', and launch the app again.")
        case .tooManyScenes(let id, let limit):
            self.init(
                .refused, id: id.name, reason: "it has \(limit) scenes already",
                remedy: "'lifectl scene list \(id)' shows them, and 'lifectl scene close' closes one.")
        case .assertionHeld(let id, let hold):
            self.init(
                .refused, id: id.name, reason: "its activity \(hold.name) holds it in the background",
                remedy: "It is suspended when that ends; 'lifectl terminate \(id)' ends it.")
        case .inUse(let id, let use):
            self.init(
                .refused, id: id.name, reason: use == .visible ? "it is on the screen" : "it plays",
                remedy:
                    "It is suspended when that ends; \"\(use) = \\\"ignore\\\"\" in lifed.toml does not wait for it.")
        case .tooManyEvents(let id, let limit):
            self.init(
                .refused, id: id.name, reason: "\(limit) URLs, activities and tasks wait for it already",
                remedy: "Try again when it has taken some of them; 'lifectl status \(id)' shows what it is doing.")
        case .foregroundBlocked(let id, let concealment):
            self.init(
                .refused, id: id?.name, reason: concealment.words,
                remedy: "What was asked for is remembered, and done when that is over.")
        case .tooManyInterruptions(let limit):
            self.init(
                .refused, id: nil, reason: "there are \(limit) interruptions already",
                remedy: "'lifectl status' names them; 'lifectl interrupt end' ends one.")
        case .notAdopted(let id):
            self.init(
                .refused, id: id.name, reason: "it was not adopted: lifed has started it",
                remedy: "'lifectl terminate \(id)' ends it.")
        case .nothingToReclaim:
            self.init(
                .refused, id: nil, reason: "no app may be ended for its memory",
                remedy: "Those in front and those with suspend = \"never\" are not ended.")
        case .shuttingDown:
            self.init(
                .stopping, id: nil, reason: "the daemon is stopping",
                remedy: "Try again when it has been started again.")
        case .superseded(let id, by: .shutdown):
            self.init(
                .stopping, id: id.name, reason: "the daemon is stopping",
                remedy: "Try again when it has been started again.")
        case .superseded(let id, by: .interruption):
            self.init(
                .interrupted, id: id.name, reason: "an interruption began",
                remedy: "'lifectl status' names the interruptions; the app becomes active when they have ended.")
        case .superseded(let id, let reason):
            self.init(
                .superseded, id: id.name, reason: "another request overtook this one (\(reason): \(reason.meaning))",
                remedy: "'lifectl status \(id)' shows where it is.")
        case .unanswered(let id, let callback):
            self.init(
                .unanswered, id: id.name, reason: "it did not answer \(callback.rawValue) in time",
                remedy: "'lifectl explain \(id)' shows what it does instead.")
        case .launchFailed(let id, let why):
            self.init(.launchFailed, id: id.name, reason: why.words, remedy: why.remedy)
        case .ended(let id, let exit):
            self.init(
                .ended, id: id.name, reason: "it ended before that: \(exit.words)",
                remedy: "Its output in the journal may tell why: 'journalctl -t \(id)'.")
        case .notStopped(let id, let which):
            self.init(
                .failed, id: id.name, reason: "cannot suspend it: \(which)",
                remedy: "'lifectl terminate \(id)' ends it")
        case .notGone(let id):
            self.init(
                .failed, id: id.name, reason: "cannot end it: processes of it are left",
                remedy: "'lifectl status \(id)' names them")
        }
    }
}

extension StartFailure {
    nonisolated var remedy: String {
        switch self {
        case .shortage: "end other apps, or raise the limit that the message names, and launch it again"
        case .unrecorded: "free some space there, or mend the file system, and try again"
        case .command: "correct that, or the command, and try again"
        }
    }
}

extension ForegroundBlocker {
    fileprivate nonisolated var words: String {
        switch self {
        case .locked: "the session is locked"
        case .switchedAway: "the seat shows another session"
        case .asleep: "the machine is about to sleep"
        }
    }
}

extension ExitRecord {
    fileprivate nonisolated var words: String {
        switch status {
        case .code(let code): "status \(code)"
        case .signal(let number): "ended by \(Signal(rawValue: number))"
        case .unknown: "\(reason)"
        }
    }
}
