/// A request that waits for an app to reach a goal. It is answered when it is removed from the app's list.
struct Waiter: Sendable, Equatable {
    let request: RequestID
    let goal: Goal
    /// The scene that the request is about, as it was at the request.
    var scene: Box<Scene>?
    /// A Boolean value that indicates whether the request waits for several apps, so that the reply names none.
    var isShared = false
}

/// The goal of a request for an app.
enum Goal: Sendable, Equatable {
    /// Active.
    case active
    /// Active, with the callbacks about it answered.
    case answered
    /// Launched, with the launch callbacks answered.
    case launched
    /// Running, in the foreground or not.
    case awake
    /// Running, if only for a while.
    case woken
    /// Every process stopped.
    case suspended
    /// Every process gone.
    case gone
    /// Not in the foreground.
    case outOfForeground
    /// Not active.
    case notActive
    /// Ready for the sleep of the machine: suspended, or as far as the app is without it.
    case readyForSleep
    /// A goal of one scene.
    case scene(SceneID, SceneGoal)
    /// The event of this number has an outcome.
    case event(UInt64, inForeground: Bool)

    /// A Boolean value that indicates whether the goal cannot be reached while the foreground is blocked.
    var needsForeground: Bool {
        switch self {
        case .active, .answered, .event(_, inForeground: true), .scene(_, .active): true
        case .launched, .awake, .woken, .suspended, .gone, .outOfForeground, .notActive, .readyForSleep, .scene, .event:
            false
        }
    }
}

/// The goal of a request for a scene.
enum SceneGoal: Sendable, Equatable {
    /// Active.
    case active
    /// Connected, with the callback about it answered.
    case connected
    /// Not in the foreground.
    case outOfForeground
    /// Disconnected and forgotten.
    case closed
}

extension AppMachine {
    /// Returns whether the goal is reached.
    @inline(__always) func hasReached(_ goal: Goal, _ shared: borrowing Shared) -> Bool {
        switch goal {
        case .active: return isActiveForGood
        // An app that was launched just now may be about to connect, and has answered nothing before.
        case .answered: return isActiveForGood && hasAnsweredAll && shared.deadlines[.hello, index] == nil
        case .launched: return state == .suspended || state.isAlive && isReady && hasAnsweredAll
        case .awake, .woken: return state.isAlive && state != .suspended && !phase.awaitsResume
        case .suspended: return isSeenStopped
        case .gone: return phase == .notRunning
        case .outOfForeground: return !isInOrEnteringForeground && !isSpawning
        case .notActive: return state != .active
        case .readyForSleep: return isReadyForSleep
        case .scene(let scene, let goal): return hasReached(goal, of: scene)
        case .event: return false
        }
    }

    /// Returns whether the app is on its way to the goal, or could be.
    @inline(__always) func canReach(_ goal: Goal) -> Bool {
        switch goal {
        case .active, .answered: target == .active
        case .launched, .woken: target.isAlive
        case .awake: target.isAlive && target != .suspended
        case .suspended: target == .suspended
        case .gone: target == .notRunning || state == .terminating
        case .outOfForeground: !target.isForeground
        case .notActive: target != .active
        case .readyForSleep: true
        case .scene(let scene, let goal): canReach(goal, of: scene)
        case .event(_, let inForeground): inForeground ? target.isForeground : target.isAlive
        }
    }

    @inline(__always) private var isActiveForGood: Bool { state == .active && !isResigning }

    /// A Boolean value that indicates whether every process is seen stopped, and the app is not about to end.
    private var isSeenStopped: Bool { phase == .suspended(isConfirmed: true) && target.isAlive }

    private var isReadyForSleep: Bool {
        switch state {
        case .notRunning: !isSpawning
        case .suspended: isSeenStopped
        case .background: hasAnsweredAll && (target == .background || assertions.activity != nil)
        case .active, .inactive, .terminating: false
        }
    }

    private func hasReached(_ goal: SceneGoal, of id: SceneID) -> Bool {
        guard let scene = scenes[id] else { return goal == .closed || goal == .outOfForeground }
        switch goal {
        case .active:
            return scene.state == .foregroundActive && awaitedPending != PendingCallback(.sceneWillResignActive, id)
        case .connected: return scene.state != .unattached && !hasPendingCallback(about: id)
        case .outOfForeground: return !scene.state.isForeground && awaitedPending?.scene != id
        case .closed: return false
        }
    }

    private func canReach(_ goal: SceneGoal, of id: SceneID) -> Bool {
        guard let scene = scenes[id] else { return false }
        switch goal {
        case .active: return sceneTarget(of: scene) == .foregroundActive
        case .connected: return sceneTarget(of: scene) != .unattached
        case .outOfForeground: return !sceneTarget(of: scene).isForeground
        case .closed: return scene.isClosing
        }
    }
}
