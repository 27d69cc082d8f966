public import LifecycleTypes

/// A state of an app or of a scene, with the legal steps from it. This file alone says which steps are legal, and what each needs.
///
/// The daemon takes no other step on purpose. Beside these, a process may end by itself at any time.
public protocol GraphState: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    /// Returns the step to another state; nil if it is not legal.
    func edge(to next: Self) -> GraphEdge<Self>?

}

/// A legal step between two states of an app, or of a scene: what it waits for, what it asks of the kernel, and which callbacks
/// belong to it.
public struct GraphEdge<State: GraphState>: Sendable {
    /// The state before the step.
    public let from: State
    /// The state after it.
    public let to: State
    /// The condition for the step, beside the callback and the kernel.
    public var gate: Gate?
    /// The callback that the app must answer before the step.
    public var before: Callback?
    /// The operation of the kernel that the step consists of.
    public var process: ProcessStep?
    /// The callbacks that follow the step, one after the other.
    public var after: [Callback] = []
}

/// An operation of the kernel that a step consists of, and that the kernel confirms.
public enum ProcessStep: String, Sendable {
    /// Start the app's program.
    case spawn
    /// Stop every process of the tree.
    case stop
    /// Continue every process of the tree.
    case resume
    /// SIGTERM, and SIGKILL after the termination timeout.
    case terminate
    /// The last process of the tree is gone.
    case reap
}

/// A condition for a step.
public enum Gate: String, Sendable {
    /// An activation slot: no app becomes active before the previous one has resigned.
    case activationSlot = "slot"
    /// No background time is left, and the app holds no assertion.
    case idle
    /// The app has answered its launch callbacks, or need not.
    case launch
    /// The app is in the foreground, or may come there.
    case foreground
    /// The app's process is stopped or continued.
    case process
}

extension AppState: GraphState {
    /// Returns the step of an app to another state; nil if it is not legal.
    public func edge(to next: AppState) -> GraphEdge<AppState>? {
        switch (self, next) {
        case (.notRunning, .inactive), (.notRunning, .background):
            .init(from: self, to: next, process: .spawn, after: [.willFinishLaunching, .didFinishLaunching])
        case (.inactive, .active): .init(from: self, to: next, gate: .activationSlot, after: [.didBecomeActive])
        case (.active, .inactive): .init(from: self, to: next, before: .willResignActive)
        case (.inactive, .background): .init(from: self, to: next, after: [.didEnterBackground])
        case (.background, .inactive): .init(from: self, to: next, gate: .foreground, before: .willEnterForeground)
        case (.background, .suspended): .init(from: self, to: next, gate: .idle, process: .stop)
        case (.suspended, .background): .init(from: self, to: next, process: .resume)
        case (.inactive, .terminating), (.background, .terminating), (.suspended, .terminating):
            .init(from: self, to: next, process: .terminate)
        case (.terminating, .notRunning): .init(from: self, to: next, process: .reap)
        case (.notRunning, _), (.inactive, _), (.active, _), (.background, _), (.suspended, _), (.terminating, _): nil
        }
    }

    /// Returns the next state on the way to another state; nil on arrival.
    public func next(toward target: AppState) -> AppState? {
        guard self != target else { return nil }
        switch self {
        case .notRunning: return target.isForeground ? .inactive : target.isAlive ? .background : nil
        case .terminating: return .notRunning
        case .active: return .inactive
        case .inactive: return target == .active ? .active : target.isAlive ? .background : .terminating
        case .background: return target.isForeground ? .inactive : target.isAlive ? .suspended : .terminating
        case .suspended: return target.isAlive ? .background : .terminating
        }
    }
}

extension SceneState: GraphState {
    /// Returns the step of a scene to another state, as long as its process lives; nil if it is not legal. When the process ends, the
    /// scene is unattached without a callback.
    public func edge(to next: SceneState) -> GraphEdge<SceneState>? {
        switch (self, next) {
        case (.unattached, .foregroundInactive):
            .init(
                from: self, to: next, gate: .foreground, before: .sceneWillConnect, after: [.sceneWillEnterForeground])
        case (.unattached, .background): .init(from: self, to: next, gate: .launch, before: .sceneWillConnect)
        case (.foregroundInactive, .foregroundActive):
            .init(from: self, to: next, gate: .activationSlot, after: [.sceneDidBecomeActive])
        case (.foregroundActive, .foregroundInactive): .init(from: self, to: next, before: .sceneWillResignActive)
        case (.foregroundInactive, .background): .init(from: self, to: next, after: [.sceneDidEnterBackground])
        case (.background, .foregroundInactive):
            .init(from: self, to: next, gate: .foreground, before: .sceneWillEnterForeground)
        case (.background, .suspended), (.suspended, .background): .init(from: self, to: next, gate: .process)
        case (.foregroundInactive, .unattached), (.background, .unattached), (.suspended, .unattached):
            .init(from: self, to: next, after: [.sceneDidDisconnect])
        case (.unattached, _), (.foregroundInactive, _), (.foregroundActive, _), (.background, _), (.suspended, _): nil
        }
    }

    /// Returns the next state on the way to another state; nil on arrival. The scenes of an app that is to end need not enter the
    /// background first.
    ///
    /// - Parameters:
    ///   - target: The state to reach.
    ///   - isTerminating: True if the app is to end.
    /// - Returns: The state after the next step; nil on arrival.
    package func next(toward target: SceneState, isTerminating: Bool) -> SceneState? {
        guard self != target else { return nil }
        switch self {
        case .unattached: return target.isForeground ? .foregroundInactive : .background
        case .foregroundActive: return .foregroundInactive
        case .foregroundInactive:
            if target == .foregroundActive { return .foregroundActive }
            return isTerminating && target == .unattached ? .unattached : .background
        case .background: return target.isForeground ? .foregroundInactive : target
        case .suspended: return .background
        }
    }

    /// Returns the state, or the nearest state that the state of the app allows.
    func nearest(in app: AppState) -> SceneState {
        switch (app, self) {
        case (.notRunning, _), (.terminating, _), (_, .unattached): .unattached
        case (.suspended, _): .suspended
        case (_, .suspended), (.background, _): .background
        case (.inactive, .foregroundActive): .foregroundInactive
        case (.inactive, _), (.active, _): self
        }
    }
}
