import OrderedCollections

/// What people, programs and the apps themselves want of scenes.
extension Lifecycle {
    mutating func openScene(_ opening: SceneOpening, of id: AppID, background: Bool, for request: RequestID) {
        guard let app = apps[id] else { return refuse(request, .noSuchApp(id)) }
        // One that is ending is launched again for it, with what the manifest says by then.
        guard app.state == .terminating ? app.policy.scenes : app.hasScenes else {
            return refuse(request, .noScenes(id))
        }
        guard let scene = session(opening, of: id, origin: background ? .system : .person) else {
            return refuse(request, .tooManyScenes(id, limit: Scenes.limit))
        }
        cancelRestart(of: id)
        if background {
            connectOutOfSight(scene, of: id)
            wait(request, for: [id], goal: .scene(scene, .connected), about: id, scene: scene)
        } else {
            show(scene, of: id)
            bringToFront(id, reason: .scene)
            wait(request, for: [id], goal: .scene(scene, .active), about: id, scene: scene)
        }
    }

    mutating func focusScene(_ scene: SceneID, of id: AppID, for request: RequestID) {
        if let refusal = refusalUnlessAlive(id) ?? refusal(of: scene, of: id) { return refuse(request, refusal) }
        guard apps[id]?.hasScenes == true else { return refuse(request, .noScenes(id)) }
        show(scene, of: id)
        bringToFront(id, reason: .focus)
        wait(request, for: [id], goal: .scene(scene, .active), about: id, scene: scene)
    }

    mutating func sendBack(_ scene: SceneID, of id: AppID, for request: RequestID) {
        if let refusal = refusalUnlessAlive(id) ?? refusal(of: scene, of: id) { return refuse(request, refusal) }
        guard settings.homeApp != id || front != [id] || apps[id]?.scenes.front != [scene] else {
            return refuse(request, .homeStaysInFront(id))
        }
        takeFromFront(scene, of: id, reason: .sentBack)
        wait(request, for: [id], goal: .scene(scene, .outOfSight), about: id, scene: scene)
    }

    mutating func closeScene(_ scene: SceneID, of id: AppID, for request: RequestID) {
        if let refusal = refusal(of: scene, of: id) { return refuse(request, refusal) }
        wait(request, for: [id], goal: .scene(scene, .closed), about: id, scene: scene)
        close(scene, of: id)
    }

    private func refusal(of scene: SceneID, of id: AppID) -> Refusal? {
        guard let app = apps[id] else { return .noSuchApp(id) }
        if app.scenes[scene] != nil { return nil }
        return app.hasScenes ? .noSuchScene(id, scene) : .noScenes(id)
    }

    // MARK: Apps

    /// An app may bring its scenes to where it is itself, and no further.
    mutating func openScene(_ scene: SceneID?, role: String?, info: String?, by id: AppID) {
        guard let app = apps[id], app.isLinked else { return }
        guard app.hasScenes else { return effects.append(.decision(.sceneRefused(id, .noScenes(id)))) }
        let opening = SceneOpening(scene: scene, role: role, info: info)
        guard let scene = session(opening, of: id, origin: .app) else {
            return effects.append(.decision(.sceneRefused(id, .tooManyScenes(id, limit: Scenes.limit))))
        }
        if front.contains(id) {
            show(scene, of: id)
        } else {
            // It does not keep itself from ending by that.
            apps[id]?.scenes.update(scene) { $0.isWanted = true }
        }
    }

    mutating func closeScene(_ scene: SceneID, by id: AppID) {
        guard apps[id]?.isLinked == true else { return }
        if let refusal = refusal(of: scene, of: id) { return effects.append(.decision(.sceneRefused(id, refusal))) }
        close(scene, of: id)
    }

    mutating func keep(_ info: String?, for scene: SceneID, of id: AppID) {
        guard apps[id]?.isLinked == true else { return }
        if let refusal = refusal(of: scene, of: id) { return effects.append(.decision(.sceneRefused(id, refusal))) }
        apps[id]?.scenes.update(scene) { $0.info = info.flatMap { $0.utf8.count <= Scene.infoLimit ? $0 : nil } }
    }

    // MARK: Wishes

    /// The scene that is wanted, which is made where there is none of its name. One that is there keeps its role and info.
    ///
    /// - Returns: Its name; nil where the app has as many as it may have.
    private mutating func session(_ opening: SceneOpening, of id: AppID, origin: Scene.Origin) -> SceneID? {
        guard let app = apps[id] else { return nil }
        if let scene = opening.scene, app.scenes[scene] != nil {
            apps[id]?.scenes.update(scene) { scene in
                scene.isClosing = false
                scene.wishReason = nil
            }
            return scene
        }
        guard app.scenes.all.count < Scenes.limit else { return nil }
        return makeScene(of: id, opening.scene, role: opening.role, info: opening.info, origin: origin)
    }

    /// Makes a scene that is not connected yet.
    mutating func makeScene(
        of id: AppID, _ name: SceneID?, role: String?, info: String?, origin: Scene.Origin
    ) -> SceneID {
        let scene = name ?? apps[id]?.scenes.freeID ?? SceneID(ordinal: 1)
        apps[id]?.scenes.all.append(
            Scene(id: scene, role: role ?? Scene.defaultRole, info: info, origin: origin, since: now))
        return scene
    }

    /// Puts the scene in front of its app's others. Where that is depends on the app.
    private mutating func show(_ scene: SceneID, of id: AppID) {
        guard let limit = apps[id]?.policy.sceneLimit else { return }
        displace(apps[id]?.scenes.bringToFront(scene, limit: limit) ?? [], of: id)
        apps[id]?.scenes.update(scene) { scene in
            scene.isClosing = false
            scene.isWanted = true
            scene.wishReason = nil
        }
    }

    private mutating func connectOutOfSight(_ scene: SceneID, of id: AppID) {
        apps[id]?.scenes.update(scene) { $0.isWanted = true }
        guard let app = apps[id] else { return }
        if app.wish != .run {
            want(id, reason: .scene)
        } else if app.state == .suspended, !front.contains(id) {
            apps[id]?.wishReason = .scene
        }
    }

    private mutating func close(_ scene: SceneID, of id: AppID) {
        apps[id]?.scenes.update(scene) { $0.isClosing = true }
        takeFromFront(scene, of: id, reason: .closed)
        forgetClosedScenes(of: id)
    }

    /// The scene leaves, and with the last one its app.
    private mutating func takeFromFront(_ scene: SceneID, of id: AppID, reason: Reason) {
        apps[id]?.scenes.front.removeAll { $0 == scene }
        apps[id]?.scenes.update(scene) { $0.wishReason = reason }
        guard apps[id]?.hasScenes == true, apps[id]?.scenes.front.isEmpty == true, front.contains(id) else { return }
        forgetReturns()
        apps[id]?.wishReason = reason
        leaveFront(id)
    }
}
