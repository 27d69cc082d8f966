import ControlAPI
import LifecycleCore
import Varlink

// The scenes of apps.
extension ControlService {
    func openScene(_ call: Call, from connection: ControlConnection) throws(ServiceError) {
        let wanted: OpenSceneParameters = try call.parameters()
        let scene = try wanted.scene.map { name throws(ServiceError) in try sceneID(name) }
        if let role = wanted.role, !SceneID.isWord(role) { throw .invalidParameter("role") }
        // The app is told it in a line of text.
        if let info = wanted.info, info.utf8.count > LifecycleCore.Scene.infoLimit || info.utf8.contains(0) {
            throw .invalidParameter("info")
        }
        let opening = SceneOpening(scene: scene, role: wanted.role, info: wanted.info)
        withApp(wanted.app, call, connection) { .openScene($0, opening, background: wanted.background ?? false) }
    }

    /// Asks for something that is about one scene.
    func askScene(
        _ call: Call, from connection: ControlConnection, _ request: (AppID, SceneID) -> Request
    ) throws(ServiceError) {
        let about: SceneParameters = try call.parameters()
        ask(request(AppID(about.app), try sceneID(about.scene)), call, connection)
    }

    private func sceneID(_ name: String) throws(ServiceError) -> SceneID {
        guard let scene = SceneID(name) else { throw .invalidParameter("scene") }
        return scene
    }
}

extension Presentation {
    func scene(_ scene: LifecycleCore.Scene, of app: LifecycleCore.App) -> ControlAPI.Scene {
        ControlAPI.Scene(
            id: scene.id.name, role: scene.role, state: ControlAPI.SceneState(scene.state),
            target: ControlAPI.SceneState(app.sceneTarget(of: scene)), reason: scene.reason.rawValue,
            since: time(of: scene.since),
            info: scene.info)
    }

    func transition(_ step: LifecycleCore.SceneTransition) -> ControlAPI.SceneTransition {
        ControlAPI.SceneTransition(
            app: step.app.name, scene: step.scene.name, from: ControlAPI.SceneState(step.from),
            to: ControlAPI.SceneState(step.to), reason: step.reason.rawValue, time: time(of: step.instant),
            callback: step.answerTime.map { Int64(clamping: $0.wholeMicroseconds) })
    }
}

extension ControlAPI.SceneState {
    fileprivate init(_ state: LifecycleCore.SceneState) {
        self =
            switch state {
            case .unattached: .unattached
            case .foregroundInactive: .foregroundInactive
            case .foregroundActive: .foregroundActive
            case .background: .background
            case .suspended: .suspended
            }
    }
}
