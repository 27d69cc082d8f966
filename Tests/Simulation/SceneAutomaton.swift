package import LifecycleCore

/// What an app may be told of one scene after what it was told of it before, written down from the life cycle's texts alone.
package struct SceneAutomaton: Sendable {
    /// What it was told of the scene last.
    package private(set) var last: Callback?
    /// The reason that the last callback gave.
    private var lastReason: SceneReason?

    package init() {}

    /// A Boolean value that indicates whether the scene is in sight, as far as the app knows.
    package var isShown: Bool {
        [.sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive].contains(last)
    }

    /// A Boolean value that indicates whether the app has the scene, as far as it knows.
    package var isConnected: Bool { last != nil && last != .sceneDidDisconnect }

    /// Takes note of a callback.
    ///
    /// - Parameter reason: Why, where the callback says so.
    /// - Returns: The mistake, or nil.
    package mutating func told(_ callback: Callback, reason: SceneReason?) -> String? {
        let allowed = allowedNext(for: reason)
        defer { (last, lastReason) = (callback, reason) }
        guard !allowed.contains(callback) else { return nil }
        return "\(callback.rawValue) after \(last?.rawValue ?? "nothing"), not \(allowed.map(\.rawValue).sorted())"
    }

    /// A scene is shown and hidden, and is disconnected in the background; an app that ends may lose a scene that is shown,
    /// after its resignation. After the restart of a daemon, the reason may be that the scene was closed since. A disconnected
    /// scene that may come back can be closed.
    private func allowedNext(for reason: SceneReason?) -> Set<Callback> {
        switch last {
        case nil: [.sceneWillConnect]
        case .sceneDidDisconnect:
            lastReason == .closed || reason == .reclaimed
                ? [.sceneWillConnect] : [.sceneWillConnect, .sceneDidDisconnect]
        case .sceneWillConnect, .sceneDidEnterBackground: [.sceneWillEnterForeground, .sceneDidDisconnect]
        case .sceneWillEnterForeground, .sceneWillResignActive:
            reason == .terminating || reason == .closed
                ? [.sceneDidBecomeActive, .sceneDidEnterBackground, .sceneDidDisconnect]
                : [.sceneDidBecomeActive, .sceneDidEnterBackground]
        case .sceneDidBecomeActive: [.sceneWillResignActive]
        default: []
        }
    }
}

/// What an onlooker has seen of one scene of one launch.
package struct SceneWatch: Sendable {
    /// A Boolean value that indicates whether the app was told that the scene is active, and has not given that up.
    package var believesActive = false
    /// When the deadline for giving that up passes, once the app was told.
    package var resignsBy: Instant?

    /// A Boolean value that indicates whether the app was told that the scene resigns, and has time left for that.
    func isResigning(at now: Instant) -> Bool { believesActive && resignsBy.map { $0 > now } ?? false }
}

/// What an onlooker knows of one scene, whichever process has it.
struct ObservedScene: Sendable {
    /// Where it is, from what the core said of its steps.
    var state = SceneState.unattached
    /// What it shows, from what was said of it.
    var info: String?
    let origin: Scene.Origin
    /// Since when there is one; tells it from an earlier one of its name.
    let made: Instant
    var wasConnected = false
    /// A Boolean value that indicates whether it is a new one, and the old one of its name has not been seen to go yet.
    var isNamesake = false
    /// A Boolean value that indicates whether a request closes it, and whether one ever did.
    var isCloseWanted = false
    var wasCloseWanted = false
    /// A Boolean value that indicates whether a request asked for it, since it was last disconnected.
    var isAskedFor = false
    /// A Boolean value that indicates whether its memory was needed, since it was last connected.
    var isReclaimed = false

    /// A Boolean value that indicates whether the scene of its name is another one, as far as can be seen.
    func isNot(_ scene: Scene) -> Bool {
        let isLater = scene.state == .unattached && scene.since != made
        return wasConnected != scene.wasConnected || origin != scene.origin || info != scene.info || isLater
    }
}
