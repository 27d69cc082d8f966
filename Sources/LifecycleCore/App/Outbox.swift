/// A callback that an app is still to be sent, with the scene that it is about. It has a scene exactly if it is about one.
public struct PendingCallback: Sendable, Equatable {
    /// The scene; nil for a callback about the app.
    let scene: SceneID?
    /// The callback.
    let callback: Callback

    private init(scene: SceneID?, checked callback: Callback) {
        self.scene = scene
        self.callback = callback
    }

    /// Creates a callback; nil if it is about a scene and none is given, or about the app and one is given.
    init?(_ callback: Callback, _ scene: SceneID? = nil) {
        guard callback.isAboutScene == (scene != nil) else { return nil }
        self.init(scene: scene, checked: callback)
    }

    /// The callbacks that launch an app.
    static var launch: [PendingCallback] {
        [
            PendingCallback(scene: nil, checked: .willFinishLaunching),
            PendingCallback(scene: nil, checked: .didFinishLaunching),
        ]
    }

    /// The callback that tells the app that it is in the background.
    static var background: PendingCallback { PendingCallback(scene: nil, checked: .didEnterBackground) }

    /// The callback that gives the app work.
    static var task: PendingCallback { PendingCallback(scene: nil, checked: .performTask) }

    /// Returns the callback that asks the scene, or without a scene the app, to become inactive.
    static func resignation(of scene: SceneID?) -> PendingCallback {
        PendingCallback(scene: scene, checked: scene == nil ? .willResignActive : .sceneWillResignActive)
    }

    /// Returns the callback that tells the app that the scene is connected.
    static func connection(of scene: SceneID) -> PendingCallback {
        PendingCallback(scene: scene, checked: .sceneWillConnect)
    }

    /// Returns the callback that tells the app that the scene was disconnected.
    static func disconnection(of scene: SceneID) -> PendingCallback {
        PendingCallback(scene: scene, checked: .sceneDidDisconnect)
    }

    /// A Boolean value that indicates whether it tells the app, or its scene, that it is active.
    var isActivation: Bool { callback.role == .activation }

    /// A Boolean value that indicates whether it asks the app, or its scene, to become inactive.
    var isResignation: Bool { callback.role == .resignation }

    /// The state of the app, or of its scene, after a resignation.
    var stateAfterResignation: NextState { scene == nil ? .app(.inactive) : .scene(.foregroundInactive) }
}

/// A callback that an app was sent and has not answered.
public struct SentCallback: Sendable, Equatable {
    /// The callback as the app was sent it.
    public internal(set) var delivery: Delivery
    /// The instant at which it was sent.
    var sent: Instant
    /// The state that follows the answer; nil if none does, or if the app has left its activation slot without it.
    var next: NextState?
}

/// The state that follows the answer to a callback.
enum NextState: Sendable, Equatable {
    /// The app's.
    case app(RunningState)
    /// That of the scene which the callback is about.
    case scene(SceneState)
}

/// An event with its number, unique for the app.
public struct QueuedEvent: Sendable, Equatable {
    let number: UInt64
    /// The event.
    public let event: AppEvent
}

/// All that an app is to be told and to answer, beside the callback that its phase waits for.
struct Outbox: Sendable, Equatable {
    /// The callbacks that the app has to be sent before its next step, in order. Filled by transitions; cleared with the channel.
    var callbacks: [PendingCallback] = []
    /// The resignations that were sent after an unanswered callback, in order. Empty unless the phase awaits a callback, which
    /// the first of them follows.
    var resignations: [SentCallback] = []
    /// The activation that the app has not answered in time. Not saved; ended by the next one, and when the app is not active any more.
    var overdueActivation: Callback?
    /// The events that wait for their place between the callbacks.
    var events: [QueuedEvent] = []
    /// The task that the app works on, which keeps it running and delays no callback.
    var task: Delivery?
    /// The number of the last callback.
    var lastSequence: UInt64 = 0
    /// The number of the last event.
    var lastEvent: UInt64 = 0

    /// The largest number of events with an outcome that may wait for an app.
    static let eventLimit = 16

    /// A Boolean value that indicates whether work waits or is under way.
    var hasTask: Bool { task != nil || events.contains { $0.event.isTask } }

    /// Adds the callbacks that follow a step of the app, or of one of its scenes.
    mutating func append(_ following: [Callback], about scene: SceneID? = nil) {
        for callback in following {
            if let callback = PendingCallback(callback, scene) { callbacks.append(callback) }
        }
    }

    mutating func append(_ event: AppEvent) -> UInt64 {
        lastEvent += 1
        events.append(QueuedEvent(number: lastEvent, event: event))
        return lastEvent
    }

    mutating func removeEvent(_ number: UInt64) {
        events.removeAll { $0.number == number }
    }

    /// Removes each activation that its own resignation follows: the app need not be told of either. Callbacks of other
    /// scenes may stand between the two.
    mutating func removeStaleActivations() {
        while let pair = staleActivation {
            callbacks.remove(at: pair.resignation)
            callbacks.remove(at: pair.activation)
        }
    }

    private var staleActivation: (activation: Int, resignation: Int)? {
        for index in callbacks.indices where callbacks[index].isActivation {
            let next = callbacks[(index + 1)...].firstIndex { $0.scene == callbacks[index].scene }
            if let next, callbacks[next].isResignation { return (index, next) }
        }
        return nil
    }
}
