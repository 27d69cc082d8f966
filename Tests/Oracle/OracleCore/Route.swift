/// The map of the machine: which state follows which, what it takes to get there, and who is told.
///
/// Everything else in the core asks this table; nothing else names a pair of states.
public enum Route {
    /// What the kernel has to do for an edge, and confirm.
    public enum ProcessStep: String, Sendable {
        /// Start the app's program.
        case spawn
        /// Stop every process of the tree.
        case stop
        /// Continue every process of the tree.
        case resume
        /// SIGTERM, so that the app can put its things in order; SIGKILL when its grace is over.
        case terminate
        /// The last process of the tree is gone.
        case reap
    }

    /// What an edge has to wait for.
    public enum Gate: String, Sendable {
        /// A place among the active apps: nobody becomes active before the one who leaves has resigned.
        case place
        /// Rest: no time in the background left, nothing that holds the app awake.
        case rest
    }

    /// One legal step from a state to the next.
    public struct Edge: Sendable {
        /// Where the step begins.
        public let from: AppState
        /// Where it ends.
        public let to: AppState
        /// What it has to wait for.
        public var gate: Gate?
        /// What the app must answer before the step is taken.
        public var before: Callback?
        /// What the kernel has to do.
        public var process: ProcessStep?
        /// What the app is told once it has arrived, one after the other.
        public var after: [Callback] = []
    }

    /// Every legal step that the daemon takes on purpose.
    ///
    /// Beside these, a process may end by itself at any time: that leads to `terminating` while others of its tree
    /// are left, and to `notRunning` when none is.
    public static let edges: [Edge] = [
        Edge(
            from: .notRunning, to: .inactive, process: .spawn,
            after: [.willFinishLaunching, .didFinishLaunching]),
        Edge(
            from: .notRunning, to: .background, process: .spawn,
            after: [.willFinishLaunching, .didFinishLaunching]),
        Edge(from: .inactive, to: .active, gate: .place, after: [.didBecomeActive]),
        Edge(from: .active, to: .inactive, before: .willResignActive),
        Edge(from: .inactive, to: .background, after: [.didEnterBackground]),
        Edge(from: .background, to: .inactive, gate: .place, before: .willEnterForeground),
        Edge(from: .background, to: .suspended, gate: .rest, process: .stop),
        Edge(from: .suspended, to: .background, process: .resume),
        Edge(from: .inactive, to: .terminating, process: .terminate),
        Edge(from: .background, to: .terminating, process: .terminate),
        Edge(from: .suspended, to: .terminating, process: .terminate),
        Edge(from: .terminating, to: .notRunning, process: .reap),
    ]

    /// The edge between two states, or nil where there is none.
    public static func edge(from: AppState, to: AppState) -> Edge? {
        edges.first { $0.from == from && $0.to == to }
    }

    /// The next state on the way from one state to another, or nil on arrival.
    public static func next(from: AppState, toward target: AppState) -> AppState? {
        guard from != target else { return nil }
        switch from {
        case .notRunning: return target.isForeground ? .inactive : target.isAlive ? .background : nil
        case .terminating: return .notRunning
        case .active: return .inactive
        case .inactive:
            return target == .active ? .active : target.isAlive ? .background : .terminating
        case .background:
            return target.isForeground ? .inactive : target.isAlive ? .suspended : .terminating
        case .suspended: return target.isAlive ? .background : .terminating
        }
    }

    /// The table as a Mermaid state diagram, for the documentation.
    public static var diagram: String {
        let lines = edges.map { edge in
            var label: [String] = []
            if let gate = edge.gate { label.append("[\(gate.rawValue)]") }
            if let callback = edge.before { label.append(callback.rawValue + " →") }
            if let step = edge.process { label.append(step.rawValue) }
            if !edge.after.isEmpty { label.append("→ " + edge.after.map(\.rawValue).joined(separator: ", ")) }
            return "    \(edge.from.rawValue) --> \(edge.to.rawValue)"
                + (label.isEmpty ? "" : ": " + label.joined(separator: " "))
        }
        return (["stateDiagram-v2", "    [*] --> notRunning"] + lines).joined(separator: "\n")
    }
}
