internal import AppChannel
internal import LifecycleClient
internal import LifecycleHeader

extension Handle {
    /// Calls the function for a callback that is about a scene.
    func deliverToScene(_ callback: CallbackMessage) {
        guard let id = callback.fields.scene else { return }
        let texts = CTexts()
        withExtendedLifetime(texts) {
            let scene = unsafe texts.add(id.rawValue)
            switch callback.kind {
            case .sceneWillConnect: connect(callback, texts)
            case .sceneWillEnterForeground: unsafe callbacks.scene_will_enter_foreground?(context, scene)
            case .sceneDidBecomeActive: unsafe callbacks.scene_did_become_active?(context, scene)
            case .sceneWillResignActive: unsafe callbacks.scene_will_resign_active?(context, scene)
            case .sceneDidEnterBackground: unsafe callbacks.scene_did_enter_background?(context, scene)
            default:
                let isClosed = SceneDisconnectionFields(callback.fields)?.reason == SceneDisconnectionFields.closed
                unsafe callbacks.scene_did_disconnect?(context, scene, isClosed)
            }
        }
    }

    private func connect(_ callback: CallbackMessage, _ texts: CTexts) {
        guard let fields = SceneConnectionFields(callback.fields) else { return }
        var scene = unsafe lifecycle_scene(
            id: texts.add(fields.scene.rawValue), role: texts.add(fields.role), reason: texts.add(fields.reason),
            info: texts.add(fields.info))
        unsafe callbacks.scene_will_connect?(context, &scene)
    }
}

extension lifecycle_callbacks {
    /// Whether a program wants to hear of scenes.
    var usesScenes: Bool {
        unsafe scene_will_connect != nil || scene_will_enter_foreground != nil || scene_did_become_active != nil
            || scene_will_resign_active != nil || scene_did_enter_background != nil || scene_did_disconnect != nil
    }
}
