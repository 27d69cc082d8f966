import Configuration
import ControlAPI
import LifecycleCore
import Processes

/// The reason and the remedy of each refusal of the core.
extension ControlError {
    /// - Parameter outputLocation: Says where the output of an app is; see ``AppLauncher/outputLocation(of:)``.
    init(_ refusal: Refusal, outputLocation: (AppID) -> String = { "with 'journalctl -t \($0)'" }) {
        switch refusal {
        case .noSuchApp(let id):
            self.init(.noSuchApp, id, reason: "there is no such app", remedy: "list the apps with 'lifectl list'")
        case .notRunning(let id):
            self.init(.notRunning, id, reason: "it is not running", remedy: "launch it with 'lifectl launch \(id)'")
        case .terminating(let id):
            self.init(.refused, id, reason: "it is ending", remedy: "launch it again when it has ended")
        case .neverSuspended(let id):
            self.init(
                .refused, id, reason: "its manifest says suspend = \"never\"",
                remedy: "change the manifest and run 'lifectl reload', or run 'lifectl terminate \(id)'")
        case .homeStaysInForeground(let id):
            self.init(
                .refused, id, reason: "it is the home app, and no other app is in the foreground",
                remedy: "focus another app first")
        case .noSuchScene(let id, let scene):
            self.init(
                .noSuchScene, id, reason: "it has no scene \(scene)",
                remedy: "list its scenes with 'lifectl scene list \(id)'")
        case .noScenes(let id):
            self.init(
                .noSuchScene, id, reason: "its manifest did not say scenes = true when it was launched",
                remedy: "change the manifest, run 'lifectl reload' and launch the app again")
        case .tooManyScenes(let id, let limit):
            self.init(
                .refused, id, reason: "it has \(limit) scenes already", remedy: "close one with 'lifectl scene close'")
        case .assertionHeld(let id, let assertion):
            self.init(
                .refused, id, reason: "its activity \(assertion.name) keeps it running in the background",
                remedy: "wait until the activity ends, or run 'lifectl terminate \(id)'")
        case .inUse(let id, let use):
            self.init(.refused, id, reason: use.cause, remedy: "\(use.remedy), or run 'lifectl suspend --now \(id)'")
        case .tooManyEvents(let id, let limit):
            self.init(
                .refused, id, reason: "\(limit) URLs, activities and tasks wait for it already",
                remedy: "try again when it has handled some of them")
        case .foregroundBlocked(let id, let blocker):
            self.init(.refused, id, reason: blocker.meaning, remedy: "the daemon does it when that ends")
        case .tooManyInterruptions(let limit):
            self.init(
                .refused, nil, reason: "there are \(limit) interruptions already",
                remedy: "list them with 'lifectl status' and end one with 'lifectl interrupt end'")
        case .noSuchInterruption(let name):
            self.init(
                .noSuchInterruption, nil, reason: "there is no interruption \(name)",
                remedy: "list the interruptions with 'lifectl status'")
        case .notAdopted(let id):
            self.init(
                .refused, id, reason: "the daemon launched it and did not adopt it",
                remedy: "end it with 'lifectl terminate \(id)'")
        case .nothingToReclaim:
            self.init(
                .refused, nil, reason: "no app may be ended for its memory",
                remedy: "launch an app, or send one to the background")
        case .shuttingDown:
            self.init(.stopping, nil, reason: "the daemon is stopping", remedy: "try again when the daemon runs again")
        case .superseded(let id, by: .shutdown):
            self.init(.stopping, id, reason: "the daemon is stopping", remedy: "try again when the daemon runs again")
        case .superseded(let id, by: .interruption):
            self.init(
                .interrupted, id, reason: "an interruption began",
                remedy: "list the interruptions with 'lifectl status'; the app becomes active when they have ended")
        case .superseded(let id, let reason):
            self.init(
                .superseded, id, reason: "a later request superseded this one (\(reason.rawValue): \(reason.meaning))",
                remedy: "see its state with 'lifectl status \(id)'")
        case .unanswered(let id, let callback):
            self.init(
                .unanswered, id, reason: "it did not answer \(callback.rawValue) in time",
                remedy: "see its state with 'lifectl explain \(id)'")
        case .launchFailed(let id, let failure):
            self.init(.launchFailed, id, reason: failure.words, remedy: failure.ofLaunch.remedy)
        case .ended(let id, let exit):
            self.init(
                .ended, id, reason: "it ended before that: \(exit.words)",
                remedy: "read its output \(outputLocation(id))")
        case .notStopped(let id, let failure):
            self.init(.failed, id, reason: failure.words, remedy: "end it with 'lifectl terminate \(id)'")
        case .notGone(let id):
            self.init(.failed, id, reason: "processes of it are left", remedy: "list them with 'lifectl status \(id)'")
        }
    }

    private init(_ kind: Kind, _ app: AppID?, reason: String, remedy: String) {
        self.init(kind, id: app?.name, reason: reason, remedy: remedy)
    }
}

extension ControlError {
    /// Returns the result of a look at desktop entries.
    ///
    /// - Throws: An error with a remedy, if something cannot be read for now.
    static func reading<Found>(_ look: () throws(LoadFailure) -> Found) throws(ControlError) -> Found {
        do throws(LoadFailure) {
            return try look()
        } catch {
            throw ControlError(
                .failed, id: nil, reason: "cannot read \(error.file): \(Errno(rawValue: error.error))",
                remedy: "end other apps, and try again")
        }
    }
}

nonisolated extension Refusal {
    /// The cause, as part of a sentence.
    var words: String { ControlError(self).reason }
}

extension ExitRecord {
    fileprivate nonisolated var words: String {
        if reason == .signalled { return "ended by a signal from outside while suspended" }
        return switch status {
        case .code(let code): "status \(code)"
        case .signal(let number): "ended by \(Signal(rawValue: number))"
        case .unknown: reason.rawValue
        }
    }
}

nonisolated extension Use {
    fileprivate var cause: String {
        switch self {
        case .visible: "a window of it is visible"
        case .pointed: "the pointer is over a window of it"
        case .playing: "it plays sound"
        case .called: "a program waits for its reply on the message bus"
        case .awaited: "a process waits for a file lock that it holds"
        case .unread: "it has many events of the display server to read"
        case .relaunched: "the desktop has just launched it"
        case .unfollowed: "no client reports which windows are visible"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .visible, .playing: "wait until that ends, set \(rawValue) = \"ignore\" in lifed.toml"
        case .pointed, .called, .awaited, .unread, .relaunched: "wait until that ends"
        case .unfollowed: "start 'lifed-desktop'"
        }
    }
}
