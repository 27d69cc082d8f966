/// The name of an app: the `id` of its manifest, or the one that an app without a manifest was given.
public struct AppID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name, for example `org.example.Clock`.
    public let name: String

    /// The hash of the name, which never changes while the process lives and is needed for each look-up.
    public let hash: Int

    /// Creates an id from a valid name. The core compares ids and does not check them.
    public init(_ name: String) {
        self.name = name
        hash = name.hashValue
    }

    /// Compares the hashes before the names.
    ///
    /// - Parameters:
    ///   - left: An id.
    ///   - right: The id to compare with.
    /// - Returns: True if the names are the same.
    public static func == (left: AppID, right: AppID) -> Bool { left.hash == right.hash && left.name == right.name }

    /// Feeds the stored hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The name.
    public var description: String { name }

    /// Orders ids by name.
    ///
    /// - Parameters:
    ///   - left: An id.
    ///   - right: The id to compare with.
    /// - Returns: True if the left name comes first.
    public static func < (left: AppID, right: AppID) -> Bool { left.name < right.name }
}

/// The state of an app: the five of the iOS life cycle, and `terminating` on the way out.
public enum AppState: String, Sendable, CaseIterable {
    /// No process of the app is left.
    case notRunning
    /// In the foreground, running, without events: during launch, an interruption, or a change.
    case inactive
    /// In the foreground and in use.
    case active
    /// Not in the foreground, running, for a limited time or while an assertion is held.
    case background
    /// Not in the foreground; every process of the tree is stopped.
    case suspended
    /// The app was asked to end, or its main process ended, and processes are left.
    case terminating

    /// A Boolean value that indicates whether the app has a process that may be asked to do something.
    public var isAlive: Bool {
        switch self {
        case .inactive, .active, .background, .suspended: true
        case .notRunning, .terminating: false
        }
    }

    /// A Boolean value that indicates whether the state is one of the foreground.
    public var isForeground: Bool { self == .active || self == .inactive }
}

/// The state of an app whose processes run, as the app protocol has it.
public enum RunningState: String, CaseIterable, Sendable {
    /// In the foreground without events: the app launches, is interrupted, or is about to change.
    case inactive
    /// In the foreground and in use.
    case active
    /// In the background.
    case background

    /// The state among all states.
    public var appState: AppState {
        switch self {
        case .inactive: .inactive
        case .active: .active
        case .background: .background
        }
    }

    /// Creates the state; nil for one in which no process runs, or in which the app ends.
    public init?(_ state: AppState) {
        switch state {
        case .inactive: self = .inactive
        case .active: self = .active
        case .background: self = .background
        case .notRunning, .suspended, .terminating: return nil
        }
    }
}

/// A use of an app that is not in the foreground. If an app has several, the first one here is named.
public enum Use: String, Sendable, CaseIterable {
    /// A window of the app is visible.
    case visible
    /// The pointer is over a window of the app.
    case pointed
    /// The app plays sound.
    case playing
    /// A program waits for a reply of the app on the message bus.
    case called
    /// A process waits for a file lock that the app holds.
    case awaited
    /// The app's connection to the display server is nearly full of events that it has not read.
    case unread
    /// The desktop has launched the app once more, while it runs.
    case relaunched
    /// The desktop launched the app, and no client reports which windows are visible.
    case unfollowed
}

/// The kernel's account of the end of a process (waitid(2)).
public enum ExitStatus: Sendable, Equatable {
    /// The process exited with this status.
    case code(Int32)
    /// This signal ended the process.
    case signal(Int32)
    /// The status is not known any more.
    case unknown
}

/// The failure of an app that ended within the launch timeout, although or because its state was restored.
public enum RestoreFailure: String, Sendable {
    /// The app restored its state: the next launch sets that aside.
    case restoring
    /// The state was set aside, and was not the only cause.
    case setAside = "set-aside"
}

/// The end of an app.
public struct ExitRecord: Sendable, Equatable {
    /// The state in which the end began.
    public let state: AppState
    /// The reason of the end.
    public let reason: Reason
    /// The kernel's account.
    public let status: ExitStatus
    /// The instant at which the last process was gone; the clock's zero for an end before the clock began.
    public let instant: Instant
    /// The failure of a launch that restored the app's state, or would have; nil for any other end.
    public var restoreFailure: RestoreFailure?

    /// True if the next launch restores the app's state: the system ended the app, and restoring
    /// the state has not just failed.
    public var callsForRestoration: Bool { reason.callsForRestoration && restoreFailure == nil }

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - state: The state in which the end began.
    ///   - reason: The reason of the end.
    ///   - status: The kernel's account.
    ///   - instant: The instant at which the last process was gone; the clock's zero for an end before the clock began.
    public init(state: AppState, reason: Reason, status: ExitStatus, instant: Instant) {
        self.state = state
        self.reason = reason
        self.status = status
        self.instant = instant
    }
}
