/// The scenes of one app: those that are connected, and the sessions of those that may be again.
public struct Scenes: Sendable, Equatable {
    /// In the order in which they were made.
    public internal(set) var all: [Scene] = []
    /// Those that are in front whenever the app is, the latest first.
    public internal(set) var front: [SceneID] = []

    /// How many scenes an app may have, connected or not: more than a person can want, and no burden.
    public static let limit = 32

    /// The scene of this name, if there is one.
    public subscript(id: SceneID) -> Scene? {
        all.first { $0.id == id }
    }

    /// What the app's own state follows from: how far in front its scenes are.
    var appState: AppState {
        if all.contains(where: { $0.state == .foregroundActive }) { return .active }
        return all.contains { $0.state.isForeground } ? .inactive : .background
    }

    var activeCount: Int { all.count { $0.state == .foregroundActive } }

    var hasConnected: Bool { all.contains { $0.state != .unattached } }

    mutating func update(_ id: SceneID, _ change: (inout Scene) -> Void) {
        guard let index = all.firstIndex(where: { $0.id == id }) else { return }
        change(&all[index])
    }

    mutating func remove(_ id: SceneID) {
        all.removeAll { $0.id == id }
        front.removeAll { $0 == id }
    }

    /// Forgets those that no process has ever had.
    mutating func forgetNew() {
        for scene in all where !scene.wasConnected { remove(scene.id) }
    }

    /// Puts the scene in front of the others, of which the last leave where they are more than `limit`.
    ///
    /// - Returns: Those that leave.
    mutating func bringToFront(_ id: SceneID, limit: Int) -> [SceneID] {
        front.removeAll { $0 == id }
        front.insert(id, at: 0)
        return trimFront(limit)
    }

    mutating func trimFront(_ limit: Int) -> [SceneID] {
        let leaving = Array(front.dropFirst(max(1, limit)))
        front.removeLast(leaving.count)
        return leaving
    }

    /// The first name that is free.
    var freeID: SceneID {
        let taken = Set(all.map(\.id))
        return (1...all.count + 1).lazy.map { SceneID(ordinal: $0) }.first { !taken.contains($0) }
            ?? SceneID(ordinal: all.count + 1)
    }

    /// The scene that was in front last, or else the latest.
    var mostRecent: Scene? {
        let candidates = all.filter { !$0.isClosing }
        let never = Instant(microseconds: 0)
        return candidates.enumerated().max { left, right in
            (left.element.lastInFront ?? never, left.offset) < (right.element.lastInFront ?? never, right.offset)
        }?.element
    }
}
