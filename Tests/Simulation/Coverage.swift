package import LifecycleCore

/// Which kinds of input have come in which states of the apps that they were about.
package struct Coverage: Sendable {
    /// The number of times that each kind came, by the state that the app was in.
    package private(set) var counts: [String: [Int]]
    package static let states: [AppState] = AppState.allCases

    package init() { counts = [:] }

    /// Takes note of an input; one about no app counts for each app that it has changed.
    mutating func count(_ input: Input, _ states: [AppID: AppState], _ changed: [AppID], in core: Engine) {
        let kind = input.kind
        var row = counts[kind] ?? [Int](repeating: 0, count: Self.states.count)
        if let id = input.app(in: core) {
            row[(states[id] ?? .notRunning).index] += 1
        } else {
            for id in changed { row[(states[id] ?? .notRunning).index] += 1 }
        }
        counts[kind] = row
    }

    package mutating func add(_ other: Coverage) {
        for (kind, row) in other.counts {
            guard let mine = counts[kind] else {
                counts[kind] = row
                continue
            }
            counts[kind] = zip(mine, row).map { $0 + $1 }
        }
    }

    /// The number of pairs of a state and a kind of input have come up, and of how many.
    package var pairs: (seen: Int, all: Int) {
        let seen = counts.values.reduce(0) { $0 + $1.count { $0 > 0 } }
        return (seen, Input.kinds.count * Self.states.count)
    }

    /// The pairs that have never come up, by kind.
    package var missing: [(kind: String, states: [String])] {
        Input.kinds.compactMap { kind in
            let row = counts[kind] ?? []
            let states = Self.states.filter { $0.index >= row.count || row[$0.index] == 0 }
            return states.isEmpty ? nil : (kind, states.map(\.rawValue))
        }
    }
}

extension AppState {
    fileprivate var index: Int {
        switch self {
        case .notRunning: 0
        case .inactive: 1
        case .active: 2
        case .background: 3
        case .suspended: 4
        case .terminating: 5
        }
    }
}

extension Input {
    /// Every kind that comes.
    static let kinds = [
        "start", "configure", "define", "forget", "use", "shutDown", "restore", "memory", "tick",
        "request launch", "request focus", "request home", "request beginInterruption", "request endInterruption",
        "request suspend", "request resume", "request hand", "request machine", "request wake", "request terminate",
        "request restart",
        "request kill", "request release", "request memoryPressure", "outcome spawned", "outcome spawnFailed",
        "outcome stopped",
        "outcome stopIncomplete", "outcome resumed", "outcome resumedByOther", "outcome stoppedByOther",
        "outcome signalPending",
        "outcome exited", "outcome gone", "outcome keeperEnded", "outcome memoryMeasured", "message hello",
        "message done",
        "message beginTask",
        "message beginActivity", "message endAssertion", "message closed", "message back",
        "request openScene", "request focusScene", "request backgroundScene", "request closeScene",
        "message openScene", "message closeScene", "message sceneInfo",
    ]

    var kind: String {
        switch self {
        case .start: "start"
        case .configure: "configure"
        case .define: "define"
        case .forget: "forget"
        case .remember: "remember"
        case .request(_, let request): request.kind
        case .setUses: "use"
        case .shutDown: "shutDown"
        case .outcome(_, let outcome): outcome.kind
        case .message(_, let message): message.kind
        case .resumeRestored: "restore"
        case .memory: "memory"
        case .tick: "tick"
        }
    }

    /// Returns the app that it is about, if it is about one.
    func app(in core: Engine) -> AppID? {
        switch self {
        case .define(let id, _), .forget(let id), .remember(let id, _): id
        case .outcome(let app, _), .message(let app, _): core.id(of: app)
        case .request(_, let request): request.app
        case .start, .configure, .setUses, .shutDown, .resumeRestored, .memory, .tick: nil
        }
    }
}

extension Request {
    fileprivate var kind: String {
        switch self {
        case .launch: "request launch"
        case .focus: "request focus"
        case .background: "request background"
        case .home: "request home"
        case .beginInterruption: "request beginInterruption"
        case .endInterruption: "request endInterruption"
        case .suspend: "request suspend"
        case .resume: "request resume"
        case .deliver: "request hand"
        case .machine: "request machine"
        case .wake: "request wake"
        case .restart: "request restart"
        case .terminate: "request terminate"
        case .kill: "request kill"
        case .openScene: "request openScene"
        case .focusScene: "request focusScene"
        case .backgroundScene: "request backgroundScene"
        case .closeScene: "request closeScene"
        case .release: "request release"
        case .memoryPressure: "request memoryPressure"
        }
    }

    var app: AppID? {
        switch self {
        case .launch(let id, _, _), .focus(let id, _), .background(let id), .suspend(let id, _), .resume(let id),
            .deliver(let id, _), .wake(let id, _, _), .openScene(let id, _, _), .focusScene(let id, _),
            .backgroundScene(let id, _), .closeScene(let id, _), .restart(let id), .terminate(let id), .kill(let id),
            .release(let id):
            id
        case .home, .beginInterruption, .endInterruption, .machine, .memoryPressure: nil
        }
    }
}

extension Outcome {
    fileprivate var kind: String {
        switch self {
        case .spawned: "outcome spawned"
        case .spawnFailed: "outcome spawnFailed"
        case .stopped: "outcome stopped"
        case .stopIncomplete: "outcome stopIncomplete"
        case .resumed: "outcome resumed"
        case .resumedByOther: "outcome resumedByOther"
        case .stoppedByOther: "outcome stoppedByOther"
        case .signalPending: "outcome signalPending"
        case .exited: "outcome exited"
        case .gone: "outcome gone"
        case .keeperEnded: "outcome keeperEnded"
        case .memoryMeasured: "outcome memoryMeasured"
        }
    }
}

extension AppMessage {
    fileprivate var kind: String {
        switch self {
        case .hello: "message hello"
        case .done: "message done"
        case .beginTask: "message beginTask"
        case .beginActivity: "message beginActivity"
        case .endAssertion: "message endAssertion"
        case .openScene: "message openScene"
        case .closeScene: "message closeScene"
        case .sceneInfo: "message sceneInfo"
        case .timeLeft: "message timeLeft"
        case .closed: "message closed"
        case .reconnected: "message back"
        }
    }
}
