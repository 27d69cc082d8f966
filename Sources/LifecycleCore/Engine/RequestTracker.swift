/// A request that waits for an app to reach a goal. It is answered when it is removed from the app's list.
struct Waiter: Sendable, Equatable {
    let request: RequestID
    let goal: Goal
    /// The scene that the request is about, as it was at the request.
    var scene: Scene?
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

    /// A Boolean value that indicates whether a process reaches the goal, be it the next one of an app that is launched again.
    var needsProcess: Bool {
        switch self {
        case .active, .answered, .launched, .awake, .woken, .event: true
        case .suspended, .gone, .outOfForeground, .notActive, .readyForSleep, .scene: false
        }
    }

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

/// The requests that wait for several apps, with the number of apps that each still waits for. Each app has a ``Waiter`` for it.
struct RequestTracker: Sendable {
    private var counts: [RequestID: Int] = [:]

    /// Begins to track a request that waits for so many apps.
    mutating func begin(_ request: RequestID, count: Int) { counts[request] = count }

    /// Notes that one app has reached the goal; returns whether it was the last.
    mutating func reachGoal(of request: RequestID) -> Bool {
        guard let count = counts.removeValue(forKey: request) else { return false }
        if count > 1 { counts[request] = count - 1 }
        return count == 1
    }

    /// Ends a request whose goal one app cannot reach; returns whether it was still to be answered.
    mutating func end(_ request: RequestID) -> Bool { counts.removeValue(forKey: request) != nil }
}
