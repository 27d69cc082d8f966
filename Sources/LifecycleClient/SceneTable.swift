public import AppChannel

/// Where a scene is, as far as an app can see. While its app is suspended it does not run, and so never sees that.
public enum SceneState: Sendable {
    /// Not connected: its session is kept, and may be connected again.
    case unattached
    /// In front and not in use: interrupted, or about to come or to leave.
    case foregroundInactive
    /// In front and in use.
    case foregroundActive
    /// Out of sight.
    case background
}

/// A scene of the app, as the app knows it.
public struct SceneRecord: Equatable, Sendable {
    /// Which scene it is.
    public let id: SceneID
    /// What it is for.
    public internal(set) var role = SceneProtocol.defaultRole
    /// What it is to show, in words that only the app understands; nil when there is nothing.
    public internal(set) var info: String?
    /// Where it is.
    public internal(set) var state = SceneState.unattached
    /// Whether the daemon has `info` from this process, and so may have lost it.
    var hasToldInfo = false
    /// Whether the app has asked to be rid of it.
    var isClosing = false

    init(_ id: SceneID) {
        self.id = id
    }
}

/// The scenes that the app has heard of and that are not closed for good.
struct SceneTable {
    // An array: there are a handful, and Embedded Swift's dictionaries would need a source of randomness.
    private(set) var scenes: [SceneRecord] = []

    subscript(_ id: SceneID) -> SceneRecord? {
        scenes.first { $0.id == id }
    }

    /// Whether one of them is in use.
    var isActive: Bool { scenes.contains { $0.state == .foregroundActive } }

    /// What a daemon is told that may have lost it. Nothing here does harm when it is said twice.
    var messagesToResume: [MessageFromApp] {
        scenes.compactMap { scene in
            if scene.isClosing { return .closeScene(scene.id) }
            return scene.hasToldInfo ? .sceneInfo(scene.id, info: scene.info) : nil
        }
    }

    /// A callback is about to be dealt with.
    mutating func begin(_ callback: CallbackMessage) {
        guard callback.kind.isAboutScene, let id = callback.fields.scene else { return }
        change(id) { scene in
            switch callback.kind {
            case .sceneWillConnect: scene.connect(callback.fields)
            case .sceneDidBecomeActive, .sceneWillResignActive: scene.state = .foregroundActive
            case .sceneDidDisconnect: scene.state = .unattached
            default: scene.state = .background
            }
        }
    }

    /// A callback has been dealt with.
    mutating func finish(_ callback: CallbackMessage) {
        guard callback.kind.isAboutScene, let id = callback.fields.scene else { return }
        switch callback.kind {
        // What is to be seen is told so: it is out of sight until then.
        case .sceneWillConnect: change(id) { $0.state = .background }
        case .sceneWillEnterForeground, .sceneWillResignActive: change(id) { $0.state = .foregroundInactive }
        case .sceneDidDisconnect:
            let isForgotten = SceneDisconnectionFields(callback.fields)?.reason == SceneDisconnectionFields.closed
            if isForgotten { scenes.removeAll { $0.id == id } }
        default: break
        }
    }

    /// The app says what a scene shows.
    mutating func setInfo(_ info: String?, of id: SceneID) {
        change(id) { scene in
            scene.info = info
            scene.hasToldInfo = true
        }
    }

    /// The app wants to be rid of a scene.
    mutating func close(_ id: SceneID) {
        change(id) { $0.isClosing = true }
    }

    /// An id that no scene has: `main`, `scene-2`, `scene-3` and so on.
    func freeID() -> SceneID {
        if self[.main] == nil { return .main }
        var number = 2
        while let id = SceneID(rawValue: "scene-\(number)") {
            if self[id] == nil { return id }
            number += 1
        }
        return .main
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
        self = SceneRecord(id)
        guard let connection = SceneConnectionFields(fields) else { return }
        role = connection.role
        info = connection.info
    }
}
