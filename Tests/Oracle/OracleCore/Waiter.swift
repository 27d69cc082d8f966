/// A request that waits for an app to get somewhere.
struct Waiter: Sendable, Equatable {
    let request: RequestID
    let goal: Goal
}

/// Where a request wants an app to be.
enum Goal: Sendable, Equatable {
    /// In front and in use.
    case active
    /// In front and in use, and done with what it was told about that.
    case answered
    /// Started, and told so.
    case launched
    /// Running, whether in sight or not.
    case awake
    /// Running, if only for a while.
    case woken
    /// Every process stopped.
    case suspended
    /// Every process gone.
    case gone
    /// Out of sight.
    case outOfSight
    /// Anything but active.
    case notActive
    /// Put to sleep, or where it would be left by a machine that does not sleep; in any case with nothing left to answer.
    case asleep
    /// Such a thing of one of its scenes.
    case scene(SceneID, SceneGoal)
    /// Done with the errand of this number, in front or anywhere.
    case errand(UInt64, inFront: Bool)

    func isMet(by app: App) -> Bool {
        switch self {
        case .active: app.state == .active && !app.isResigning
        case .answered: Goal.active.isMet(by: app) && app.hasHeardAll
        case .launched: app.state == .suspended || app.state.isAlive && app.isReady && app.hasHeardAll
        case .awake, .woken: app.state.isAlive && app.state != .suspended && app.awaiting != .resume
        case .suspended: app.isSeenStopped
        case .gone: app.state == .notRunning && app.awaiting == nil
        case .outOfSight: !app.isInSight && !app.isSpawning
        case .notActive: app.state != .active
        case .asleep: app.isReadyForSleep
        case .scene(let scene, let goal): goal.isMet(by: app.scenes[scene], of: app)
        case .errand: false
        }
    }

    /// Whether the app is on its way there, or could be.
    func isWithinReach(of app: App) -> Bool {
        switch self {
        case .active, .answered: app.target == .active
        case .launched, .woken: app.target.isAlive
        case .awake: app.target.isAlive && app.target != .suspended
        case .suspended: app.target == .suspended
        case .gone: app.target == .notRunning || app.state == .terminating
        case .outOfSight: !app.target.isForeground
        case .notActive: app.target != .active
        case .asleep: true
        case .scene(let scene, let goal): goal.isWithinReach(of: app.scenes[scene], of: app)
        case .errand(_, let inFront): inFront ? app.target.isForeground : app.target.isAlive
        }
    }
}

extension Goal {
    /// Whether it can be reached only where something is in sight.
    var needsSight: Bool {
        switch self {
        case .active, .answered, .errand(_, inFront: true), .scene(_, .active): true
        default: false
        }
    }
}

extension App {
    /// Whether it sleeps. One that somebody else has continued, and that is to end before it was stopped again, does not.
    fileprivate var isSeenStopped: Bool { self.state == .suspended && self.awaiting == nil && self.target.isAlive }

    /// Whether there is nothing more to wait for before the machine sleeps.
    fileprivate var isReadyForSleep: Bool {
        switch self.state {
        case .notRunning: !isSpawning
        case .suspended: isSeenStopped
        case .background:
            hasHeardAll && (self.target == .background || self.holds.contains { $0.kind == .activity })
        case .active, .inactive, .terminating: false
        }
    }
}

/// A request that waits for one or more apps.
struct OpenRequest: Sendable {
    var remaining: Int
    let app: AppID?
    /// The scene that it is about, as it was when it was asked about.
    var scene: Scene?
}

/// Where a request wants a scene to be.
enum SceneGoal: Sendable, Equatable {
    /// In front and in use.
    case active
    /// Connected, and told so.
    case connected
    /// Out of sight.
    case outOfSight
    /// Disconnected and forgotten.
    case closed

    func isMet(by scene: Scene?, of app: App) -> Bool {
        guard let scene else { return self == .closed || self == .outOfSight }
        return switch self {
        case .active: scene.state == .foregroundActive && app.awaitedNotice != Notice(.sceneWillResignActive, scene.id)
        case .connected: scene.state != .unattached && !app.owesNews(of: scene.id)
        case .outOfSight: !scene.state.isForeground && app.awaitedNotice?.scene != scene.id
        case .closed: false
        }
    }

    /// Whether the scene is on its way there, or could be.
    func isWithinReach(of scene: Scene?, of app: App) -> Bool {
        guard let scene else { return false }
        return switch self {
        case .active: app.sceneTarget(of: scene) == .foregroundActive
        case .connected: app.sceneTarget(of: scene) != .unattached
        case .outOfSight: !app.sceneTarget(of: scene).isForeground
        case .closed: scene.isClosing
        }
    }
}
