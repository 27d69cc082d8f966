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

/// The state of a scene, in the terms of `UIScene.ActivationState`.
public enum SceneState: String, Sendable, CaseIterable {
    /// Not connected: before its first connection, after a disconnection, or without a process.
    case unattached
    /// In the foreground, without events.
    case foregroundInactive
    /// In the foreground and in use.
    case foregroundActive
    /// In the background of a process that runs.
    case background
    /// In the background of a process that is stopped.
    case suspended

    /// A Boolean value that indicates whether the state is one of the foreground.
    public var isForeground: Bool { self == .foregroundInactive || self == .foregroundActive }

    /// A Boolean value that indicates whether the scene is connected and not in the foreground.
    public var isConnectedInBackground: Bool { self == .background || self == .suspended }
}
