/// The map of a scene, as ``Route`` is that of an app: which state follows which, what it takes, and what the app is told.
///
/// Nothing else in the core names a pair of a scene's states.
public enum SceneRoute {
    /// What a step has to wait for.
    public enum Gate: String, Sendable {
        /// The app has answered its launch callbacks, or need not.
        case launch
        /// The app may come to the front, where it is not there yet.
        case front
        /// The app has a place among the active ones.
        case place
        /// The app's process is stopped or continued.
        case process
    }

    /// One legal step from a state to the next.
    public struct Edge: Sendable {
        /// Where the step begins.
        public let from: SceneState
        /// Where it ends.
        public let to: SceneState
        /// What it has to wait for.
        public var gate: Gate?
        /// What the app must answer before the step is taken.
        public var before: Callback?
        /// What the app is told once the scene has arrived, one after the other.
        public var after: [Callback] = []
    }

    /// Every legal step that the daemon takes on purpose, as long as the process lives. When that ends, the scene is
    /// unattached, and nobody is left to be told.
    public static let edges: [Edge] = [
        Edge(
            from: .unattached, to: .foregroundInactive, gate: .front, before: .sceneWillConnect,
            after: [.sceneWillEnterForeground]),
        Edge(from: .unattached, to: .background, gate: .launch, before: .sceneWillConnect),
        Edge(from: .foregroundInactive, to: .foregroundActive, gate: .place, after: [.sceneDidBecomeActive]),
        Edge(from: .foregroundActive, to: .foregroundInactive, before: .sceneWillResignActive),
        Edge(from: .foregroundInactive, to: .background, after: [.sceneDidEnterBackground]),
        Edge(from: .background, to: .foregroundInactive, gate: .front, before: .sceneWillEnterForeground),
        Edge(from: .background, to: .suspended, gate: .process),
        Edge(from: .suspended, to: .background, gate: .process),
        Edge(from: .background, to: .unattached, after: [.sceneDidDisconnect]),
        Edge(from: .suspended, to: .unattached, after: [.sceneDidDisconnect]),
        Edge(from: .foregroundInactive, to: .unattached, after: [.sceneDidDisconnect]),
    ]

    /// The edge between two states, or nil where there is none.
    public static func edge(from: SceneState, to: SceneState) -> Edge? {
        edges.first { $0.from == from && $0.to == to }
    }

    /// The next state on the way from one state to another, or nil on arrival.
    ///
    /// - Parameter isEnding: Whether the app ends, so that its scenes need not leave the front before they go.
    public static func next(from: SceneState, toward target: SceneState, isEnding: Bool = false) -> SceneState? {
        guard from != target else { return nil }
        switch from {
        case .unattached: return target.isForeground ? .foregroundInactive : .background
        case .foregroundActive: return .foregroundInactive
        case .foregroundInactive:
            if target == .foregroundActive { return .foregroundActive }
            return isEnding && target == .unattached ? .unattached : .background
        case .background: return target.isForeground ? .foregroundInactive : target
        case .suspended: return .background
        }
    }

    /// The table as a Mermaid state diagram, for the documentation.
    public static var diagram: String {
        let lines = edges.map { edge in
            var label: [String] = []
            if let gate = edge.gate { label.append("[\(gate.rawValue)]") }
            if let callback = edge.before { label.append(callback.rawValue + " →") }
            if !edge.after.isEmpty { label.append("→ " + edge.after.map(\.rawValue).joined(separator: ", ")) }
            return "    \(edge.from.rawValue) --> \(edge.to.rawValue)"
                + (label.isEmpty ? "" : ": " + label.joined(separator: " "))
        }
        return (["stateDiagram-v2", "    [*] --> unattached"] + lines).joined(separator: "\n")
    }
}
