/// What an app is doing. The first five are the states of the iOS life cycle; `terminating` is the way out.
public enum AppState: String, Sendable, CaseIterable {
    /// No process of the app is left.
    case notRunning
    /// In front, running, without events: launching, interrupted, coming or leaving.
    case inactive
    /// In front and in use.
    case active
    /// Not in front, running, for a limited time or for as long as something holds it.
    case background
    /// Not in front; every process of the tree is stopped.
    case suspended
    /// Was told to end, or its main process ended, and processes are left.
    case terminating

    /// Whether the app has a process that may be asked to do something.
    public var isAlive: Bool {
        switch self {
        case .inactive, .active, .background, .suspended: true
        case .notRunning, .terminating: false
        }
    }

    /// Whether the app is on its user's screen, in so far as it is up to its state.
    public var isForeground: Bool { self == .active || self == .inactive }
}
