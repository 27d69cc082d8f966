/// One window of an app, or another unit of its user interface: its state, and its session, which outlives the process.
public struct Scene: Sendable, Equatable {
    /// The origin of a scene.
    public enum Origin: String, Sendable, CaseIterable {
        /// A request that shows it.
        case user
        /// A request that opens it in the background.
        case system
        /// The app.
        case app

        /// The reason of the first connection.
        var reason: SceneReason {
            switch self {
            case .user: .user
            case .system: .system
            case .app: .app
            }
        }
    }

    /// The name.
    public let id: SceneID
    /// The role, in the app's own words.
    public let role: String
    /// The text about its contents, in the app's own words; at most ``SceneText/infoLimit`` bytes of UTF-8.
    public internal(set) var info: String?
    /// The origin.
    public let origin: Origin
    /// The state.
    public internal(set) var state = SceneState.unattached
    /// The reason of the state.
    public internal(set) var reason = Reason.none
    /// The instant at which the scene entered the state.
    public internal(set) var since: Instant
    /// The instant at which the scene left the foreground the last time; nil if it never did.
    public internal(set) var lastInForeground: Instant?
    /// A Boolean value that indicates whether the scene was disconnected at least once.
    public internal(set) var wasConnected = false

    /// A Boolean value that indicates whether the app was told of the disconnection, and expects to see the scene again or to hear
    /// of its end.
    var isEndAwaitedByApp = false
    /// The reason of the next transition, where it is not that of the app. Cleared on arrival at the target.
    var desiredReason: Reason?
    /// A Boolean value that indicates whether the scene is connected in the background as well.
    var isWanted = false
    /// A Boolean value that indicates whether the scene is forgotten after its disconnection and its callback.
    var isClosing = false
    /// True if restoring the scene may have crashed its app: only a request shows it again.
    public internal(set) var isSetAside = false
}

/// The scenes of one app: the connected ones, and the sessions that can be connected again.
public struct Scenes: Sendable, Equatable {
    /// The scenes in the order in which they were made.
    public internal(set) var all: [Scene] = []
    /// The scenes that are in the foreground whenever the app is, the latest first.
    public internal(set) var foreground: [SceneID] = []

    /// The largest number of scenes of an app, connected or not.
    public static let limit = 32

    /// The scene of this name, if there is one.
    public subscript(id: SceneID) -> Scene? {
        all.first { $0.id == id }
    }

    /// The state of the app that follows from its scenes.
    var appState: RunningState {
        if all.contains(where: { $0.state == .foregroundActive }) { return .active }
        return all.contains { $0.state.isForeground } ? .inactive : .background
    }

    var activeCount: Int { all.count { $0.state == .foregroundActive } }

    /// Changes a scene, which must be there.
    mutating func update(_ id: SceneID, _ change: (inout Scene) -> Void) {
        guard let index = all.firstIndex(where: { $0.id == id }) else {
            preconditionFailure("the app has no such scene")
        }
        change(&all[index])
    }

    mutating func remove(_ id: SceneID) {
        all.removeAll { $0.id == id }
        foreground.removeAll { $0 == id }
    }

    /// Keeps a scene for a request that shows it.
    mutating func setAside(_ id: SceneID) {
        foreground.removeAll { $0 == id }
        update(id) { scene in
            (scene.isSetAside, scene.isWanted, scene.desiredReason) = (true, false, nil)
        }
    }

    /// True while there is room for another scene. A scene that was set aside makes room for it.
    var hasRoom: Bool { all.count < Self.limit || all.contains { $0.isSetAside } }

    /// Removes the oldest scene that is set aside if there is no other room for a scene.
    mutating func makeRoom() {
        if all.count >= Self.limit, let oldest = all.first(where: { $0.isSetAside }) { remove(oldest.id) }
    }

    /// Removes the scenes that were never disconnected.
    mutating func removeNew() {
        for scene in all where !scene.wasConnected { remove(scene.id) }
    }

    /// Takes note that the app has begun a new life cycle, for which only connected scenes exist.
    mutating func forgetDisconnections() {
        for index in all.indices { all[index].isEndAwaitedByApp = false }
    }

    /// Moves the scene to the front of the foreground; returns the last ones beyond the limit, which leave it.
    mutating func bringToForeground(_ id: SceneID, limit: Int) -> [SceneID] {
        foreground.removeAll { $0 == id }
        foreground.insert(id, at: 0)
        return trimForeground(limit)
    }

    mutating func trimForeground(_ limit: Int) -> [SceneID] {
        let leaving = Array(foreground.dropFirst(max(1, limit)))
        foreground.removeLast(leaving.count)
        return leaving
    }

    /// The first name that is free.
    var freeID: SceneID {
        let taken = Set(all.map { $0.id })
        var ordinal = 1
        while taken.contains(SceneID(ordinal: ordinal)) { ordinal += 1 }
        return SceneID(ordinal: ordinal)
    }

    /// The scene that was in the foreground last, or else the latest, of those that are not set aside.
    var mostRecent: Scene? {
        let candidates = all.filter { !$0.isClosing && !$0.isSetAside }
        let never = Instant(microseconds: 0)
        return candidates.enumerated().max { left, right in
            (left.element.lastInForeground ?? never, left.offset)
                < (right.element.lastInForeground ?? never, right.offset)
        }?.element
    }
}
