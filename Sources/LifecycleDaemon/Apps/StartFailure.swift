import Glibc
import LifecycleCore
import Processes

/// Why an app could not be started. The core hands it on without a look; the words are made where it is told.
nonisolated enum StartFailure: Error, Hashable {
    /// Its user or its directories are not as they must be.
    case preparation(DaemonError)
    /// Its process or its program failed.
    case spawn(SpawnError)
    /// Its manifest was removed.
    case manifestRemoved
    /// It was to be adopted, and its process has ended.
    case processEnded
    /// It was adopted, and is to be launched again.
    case notLaunchable
    /// The record of it cannot be written to this file or directory.
    case unrecorded(String, Errno)
    /// The state of the apps has more than this number of bytes.
    case stateTooLarge(limit: Int)
}

nonisolated extension StartFailure: CustomStringConvertible {
    /// The cause, as one clause.
    var description: String {
        switch self {
        case .preparation(let error): error.description
        case .spawn(let error): error.description
        case .manifestRemoved: "its manifest was removed"
        case .processEnded: "the process has ended"
        case .notLaunchable: "an adopted app cannot be launched again, and its processes have ended"
        case .unrecorded(let directory, Errno(rawValue: ENOSPC)): "\(directory) is full"
        case .unrecorded(let file, let error): "\(file): \(error)"
        case .stateTooLarge(let limit): "the state of the apps has more than \(limit) bytes"
        }
    }

    /// What the user can do about it.
    var remedy: String {
        switch self {
        case .spawn(.resources), .stateTooLarge:
            "end other apps, or raise the limit that the message names, and launch it again"
        case .unrecorded: "free some space there, or repair the file system, and try again"
        case .preparation, .spawn, .manifestRemoved, .processEnded, .notLaunchable:
            "correct what the message names, and try again"
        }
    }
}

/// Why an app is not suspended yet.
nonisolated enum StopFailure: Error, Hashable {
    /// The daemon may not stop these processes; of another user's app, that user's daemon may.
    case forbidden([ProcessInfo], ofOtherUser: Bool)
    /// SIGSTOP has not stopped these processes yet; none if they cannot be listed.
    case pending([ProcessInfo])

    var processes: [ProcessInfo] {
        switch self {
        case .forbidden(let processes, ofOtherUser: _), .pending(let processes): processes
        }
    }
}

nonisolated extension StopFailure: CustomStringConvertible {
    /// The cause, and the remedy or the consequence.
    var description: String {
        switch self {
        case .forbidden(let processes, let isOfOtherUser):
            "this daemon may not stop \(processes.names); "
                + (isOfOtherUser ? "suspend it as that user or as root" : "launch the app with the system's daemon")
        case .pending(let processes):
            "SIGSTOP has not stopped "
                + (processes.isEmpty ? "processes that keep changing or cannot be listed" : processes.names)
                + "; the app becomes suspended when they stop"
        }
    }
}

nonisolated extension [ProcessInfo] {
    /// The first of the processes, as messages name them.
    var names: String { prefix(8).map(\.subject).joined(separator: ", ") }
}

nonisolated extension SystemFailure {
    /// The cause, as one clause.
    var words: String { "\(error)" }

    /// The error of an app that could not be started.
    var ofLaunch: StartFailure {
        guard let failure = error as? StartFailure else { preconditionFailure("\(error) is not about a launch") }
        return failure
    }
}
