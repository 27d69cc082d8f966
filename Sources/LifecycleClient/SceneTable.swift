internal import AppChannel
public import LifecycleTypes

/// A scene of the app.
public struct SceneRecord: Equatable, Sendable {
    /// The identifier, which no other scene of the app has.
    public let id: SceneID
    /// The purpose of the scene in the app, such as `window`.
    public internal(set) var role = SceneText.defaultRole
    /// The content, in the app's own format; nil for none.
    public internal(set) var info: String?
    /// The state, as far as the app can see it: never ``SceneState/suspended``, because the app does not run then.
    public internal(set) var state = SceneState.unattached
    /// The daemon has `info` from this process, and so may have lost it.
    var hasToldInfo = false
    /// The progress of the app's request to end the scene. Cleared when the app opens the scene again, and when a client brings it
    /// to the foreground.
    var closing = Closing.none

    /// The progress of a request to end a scene.
    enum Closing {
        /// The app has not requested the end.
        case none
        /// The next callback may have been sent before the daemon read the request.
        case requested
        /// The app has answered a callback after the request, so that the daemon reads the request before it sends the next one.
        case read
        /// The daemon has the request, and disconnects the scene unless a client opens it again.
        case known
    }

    /// A Boolean value that indicates whether the app has requested the end, and the daemon may not have the request.
    var isEndUnconfirmed: Bool { closing == .requested || closing == .read }

    init(_ id: SceneID) {
        self.id = id
    }
}

/// The known scenes, except those that were closed for good.
struct SceneTable {
    // An array: there are a handful, and Embedded Swift's dictionaries would need a source of randomness.
    private(set) var scenes: [SceneRecord] = []

    subscript(_ id: SceneID) -> SceneRecord? {
        scenes.first { $0.id == id }
    }

    /// A Boolean value that indicates whether a scene is active.
    var isActive: Bool { scenes.contains { $0.state == .foregroundActive } }

    /// The messages for a daemon that may have lost them. A repetition does no harm.
    var messagesToResume: [MessageFromApp] {
        scenes.compactMap { scene in
            if scene.isEndUnconfirmed { return .closeScene(scene.id) }
            return scene.hasToldInfo ? .sceneInfo(scene.id, info: scene.info) : nil
        }
    }

    /// Applies a callback before the app handles it.
    mutating func begin(_ callback: CallbackMessage) {
        guard callback.kind.isAboutScene, let id = callback.fields.scene else { return }
        change(id) { scene in
            switch callback.kind.role {
            case .arrival where callback.kind == .sceneWillConnect: scene.connect(callback.fields)
            case .activation, .resignation: scene.state = .foregroundActive
            case .disconnection: scene.state = .unattached
            case .arrival, .background: scene.state = .background
            case .launch, .event, .notice: break
            }
        }
    }

    /// Applies a callback after the app has handled it.
    mutating func finish(_ callback: CallbackMessage) {
        guard callback.kind.isAboutScene, let id = callback.fields.scene else { return }
        switch callback.kind.role {
        // A visible scene gets another callback; until then it is in the background.
        case .arrival where callback.kind == .sceneWillConnect: change(id) { $0.state = .background }
        case .arrival, .resignation: change(id) { $0.state = .foregroundInactive }
        case .disconnection:
            let isForgotten = SceneDisconnectionFields(callback.fields)?.reason == SceneDisconnectionFields.closed
            if isForgotten { scenes.removeAll { $0.id == id } }
        case .activation, .background, .launch, .event, .notice: break
        }
    }

    /// Sets the content of a scene.
    mutating func setInfo(_ info: String?, of id: SceneID) {
        change(id) { scene in
            scene.info = info
            scene.hasToldInfo = true
        }
    }

    /// Notes that the app requests the end of a scene.
    mutating func close(_ id: SceneID) {
        change(id) { $0.closing = .requested }
    }

    /// Notes that the scene is opened, which the app may have closed before.
    mutating func reopen(_ id: SceneID) {
        if self[id] != nil { change(id) { $0.closing = .none } }
    }

    /// Notes that the requests are repeated: the daemon may not have read them.
    mutating func repeatRequests() {
        for index in scenes.indices where scenes[index].isEndUnconfirmed { scenes[index].closing = .requested }
    }

    /// Notes that the daemon gets an answer, after which it sends the next callback.
    mutating func noteAnswer() {
        for index in scenes.indices where scenes[index].isEndUnconfirmed { scenes[index].closing = .read }
    }

    /// Notes a callback when it arrives. A callback that the daemon sends after an answer shows that it has the requests before
    /// that answer. It reports no request that a client takes back, and so a repetition would end a scene that is open.
    mutating func noteArrival(_ callback: CallbackMessage) {
        // The daemon may send these before the answer to another callback.
        guard callback.kind.role != .resignation, callback.kind != .performTask else { return }
        for index in scenes.indices where scenes[index].closing == .read { scenes[index].closing = .known }
        guard callback.kind == .sceneWillEnterForeground || callback.kind == .sceneDidBecomeActive else { return }
        // A client has opened it again.
        if let id = callback.fields.scene, self[id]?.closing == .known { reopen(id) }
    }

    /// Returns an id that no scene has: `main`, `scene-2`, `scene-3` and so on.
    func freeID() -> SceneID {
        var ordinal = 1
        while self[SceneID(ordinal: ordinal)] != nil { ordinal += 1 }
        return SceneID(ordinal: ordinal)
    }

    private mutating func change(_ id: SceneID, _ change: (inout SceneRecord) -> Void) {
        if let index = scenes.firstIndex(where: { $0.id == id }) {
            change(&scenes[index])
        } else {
            var scene = SceneRecord(id)
            change(&scene)
            scenes.append(scene)
        }
    }
}

extension SceneRecord {
    fileprivate mutating func connect(_ fields: [Field]) {
        // The daemon may have sent this before it read the request to end the scene.
        let closing = closing
        self = SceneRecord(id)
        self.closing = closing
        guard let connection = SceneConnectionFields(fields) else { return }
        role = connection.role
        info = connection.info
    }
}
