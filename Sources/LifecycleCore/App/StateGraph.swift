public import LifecycleTypes

/// The legal steps between the states of an app, or of a scene: what each waits for, what it asks of the kernel, and
/// which callbacks belong to it.
///
/// Nothing else in the core names a pair of states.
public struct StateGraph<State: RawRepresentable<String> & CaseIterable & Hashable & Sendable>: Sendable {
    /// One legal step.
    public struct Edge: Sendable {
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

    /// Every legal step that the daemon takes on purpose. Beside these, a process may end by itself at any time.
    public let edges: [Edge]
    private let initial: State
    /// The edges by the ordinals of both states.
    private let table: [Edge?]
    private let ordinal: @Sendable (State) -> Int

    init(from initial: State, _ edges: [Edge], ordinal: @escaping @Sendable (State) -> Int) {
        self.edges = edges
        self.initial = initial
        self.ordinal = ordinal
        var table: [Edge?] = Array(repeating: nil, count: State.allCases.count * State.allCases.count)
        for edge in edges { table[ordinal(edge.from) * State.allCases.count + ordinal(edge.to)] = edge }
        self.table = table
    }

    /// Returns the edge between two states; nil if there is none.
    public func edge(from: State, to: State) -> Edge? {
        table[ordinal(from) * State.allCases.count + ordinal(to)]
    }

    /// The graph as a Mermaid state diagram, for the documentation.
    public var diagram: String {
        let lines = edges.map { edge in
            var label: [String] = []
            if let gate = edge.gate { label.append("[\(gate.rawValue)]") }
            if let callback = edge.before { label.append(callback.rawValue + " →") }
            if let step = edge.process { label.append(step.rawValue) }
            if !edge.after.isEmpty { label.append("→ " + edge.after.map { $0.rawValue }.joined(separator: ", ")) }
            return "    \(edge.from.rawValue) --> \(edge.to.rawValue)"
                + (label.isEmpty ? "" : ": " + label.joined(separator: " "))
        }
        return (["stateDiagram-v2", "    [*] --> \(initial.rawValue)"] + lines).joined(separator: "\n")
    }
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
    case place
    /// No background time is left, and the app holds no assertion.
    case rest
    /// The app has answered its launch callbacks, or need not.
    case launch
    /// The app is in the foreground, or may come there.
    case front
    /// The app's process is stopped or continued.
    case process
}

extension AppState {
    /// The steps of an app.
    public static let graph = StateGraph<AppState>(
        from: .notRunning,
        [
            .init(
                from: .notRunning, to: .inactive, process: .spawn,
                after: [.willFinishLaunching, .didFinishLaunching]),
            .init(
                from: .notRunning, to: .background, process: .spawn,
                after: [.willFinishLaunching, .didFinishLaunching]),
            .init(from: .inactive, to: .active, gate: .place, after: [.didBecomeActive]),
            .init(from: .active, to: .inactive, before: .willResignActive),
            .init(from: .inactive, to: .background, after: [.didEnterBackground]),
            .init(from: .background, to: .inactive, gate: .place, before: .willEnterForeground),
            .init(from: .background, to: .suspended, gate: .rest, process: .stop),
            .init(from: .suspended, to: .background, process: .resume),
            .init(from: .inactive, to: .terminating, process: .terminate),
            .init(from: .background, to: .terminating, process: .terminate),
            .init(from: .suspended, to: .terminating, process: .terminate),
            .init(from: .terminating, to: .notRunning, process: .reap),
        ]
    ) { state in
        switch state {
        case .notRunning: 0
        case .inactive: 1
        case .active: 2
        case .background: 3
        case .suspended: 4
        case .terminating: 5
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

extension SceneState {
    /// The steps of a scene, as long as its process lives. When that ends, the scene is unattached without a callback.
    public static let graph = StateGraph<SceneState>(
        from: .unattached,
        [
            .init(
                from: .unattached, to: .foregroundInactive, gate: .front, before: .sceneWillConnect,
                after: [.sceneWillEnterForeground]),
            .init(from: .unattached, to: .background, gate: .launch, before: .sceneWillConnect),
            .init(from: .foregroundInactive, to: .foregroundActive, gate: .place, after: [.sceneDidBecomeActive]),
            .init(from: .foregroundActive, to: .foregroundInactive, before: .sceneWillResignActive),
            .init(from: .foregroundInactive, to: .background, after: [.sceneDidEnterBackground]),
            .init(from: .background, to: .foregroundInactive, gate: .front, before: .sceneWillEnterForeground),
            .init(from: .background, to: .suspended, gate: .process),
            .init(from: .suspended, to: .background, gate: .process),
            .init(from: .background, to: .unattached, after: [.sceneDidDisconnect]),
            .init(from: .suspended, to: .unattached, after: [.sceneDidDisconnect]),
            .init(from: .foregroundInactive, to: .unattached, after: [.sceneDidDisconnect]),
        ]
    ) { state in
        switch state {
        case .unattached: 0
        case .foregroundInactive: 1
        case .foregroundActive: 2
        case .background: 3
        case .suspended: 4
        }
    }

    /// Returns the next state on the way to another state; nil on arrival.
    ///
    /// - Parameter isTerminating: Whether the app is to end, so that its scenes need not enter the background first.
    public func next(toward target: SceneState, isTerminating: Bool) -> SceneState? {
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
}
