import LifecycleCore

/// Which scenes there are: what was asked for, and what the core keeps and forgets.
extension Machine {
    /// What an input changes by itself about the scenes that there are.
    mutating func noteScenesBefore(_ input: Input) {
        switch input {
        case .request(_, let request): if !isShuttingDown { noteWish(request) }
        case .message(let index, let message):
            guard let app = core.knownApps[known: index], app.isConnected, app.state.isAlive else { return }
            switch message {
            case .closeScene(let scene): wantClosed(scene, of: app.id, true)
            case .openScene(let scene?, _, let info): if app.hasScenes { noteOpening(scene, of: app.id, info, .app) }
            case .sceneInfo(let scene, let info): sessions[app.id]?[scene]?.info = info
            default: break
            }
        default: break
        }
    }

    private mutating func noteWish(_ request: Request) {
        switch request {
        case .closeScene(let id, let scene): wantClosed(scene, of: id, true)
        case .openScene(let id, let opening, let background):
            if let scene = opening.scene, let app = core.knownApps[id], app.hasScenes, !isRestarting(app) {
                noteOpening(scene, of: id, opening.info, background ? .system : .user)
                sessions[id]?[scene]?.isAskedFor = true
            }
        case .focusScene(let id, let scene):
            guard let app = core.knownApps[id], app.isRunning, app.state != .terminating, !isRestarting(app),
                !hasEnded(scene, of: id)
            else { return }
            wantClosed(scene, of: id, false)
            sessions[id]?[scene]?.isAskedFor = true
        default: break
        }
    }

    /// A Boolean value that indicates whether the app takes no scenes because it is to end, and to be started again.
    private func isRestarting(_ app: AppMachine) -> Bool { app.desired == .restart }

    /// A Boolean value that indicates whether a scene is closed for its app: it is disconnected, and is not being connected.
    private func hasEnded(_ scene: SceneID, of id: AppID) -> Bool {
        guard let session = sessions[id]?[scene], session.isCloseWanted, session.state == .unattached else {
            return false
        }
        // A killed daemon may not have told the app yet; the next daemon does.
        let told = core.knownApps[id]?.sentCallback?.delivery
        return told?.callback != .sceneWillConnect || told?.scene?.scene != scene
    }

    /// A scene that is to be closed stays if it is opened in time; another one of its name follows it otherwise.
    private mutating func noteOpening(_ scene: SceneID, of id: AppID, _ info: String?, _ origin: Scene.Origin) {
        if hasEnded(scene, of: id) {
            sessions[id]?[scene] = ObservedScene(info: info, origin: origin, made: now)
            sessions[id]?[scene]?.wasCloseWanted = true
        }
        wantClosed(scene, of: id, false)
    }

    private mutating func wantClosed(_ scene: SceneID, of id: AppID, _ isWanted: Bool) {
        sessions[id]?[scene]?.isCloseWanted = isWanted
        if isWanted { sessions[id]?[scene]?.wasCloseWanted = true }
    }

    /// Scenes that there were not before: a client has asked for one, or an app comes to the foreground and has none to show.
    mutating func noteNewScenes(_ input: Input, _ changed: [AppID]) {
        for id in changed {
            guard let app = core.knownApps[id], !app.scenes.all.isEmpty else { continue }
            noteNamesakes(of: app)
            for scene in app.scenes.all where sessions[id]?[scene.id] == nil {
                var session = ObservedScene(origin: .user, made: scene.since)
                if let (opening, origin) = opening(in: input, by: id), opening.scene.map({ $0 == scene.id }) ?? true {
                    session = ObservedScene(info: opening.info, origin: origin, made: scene.since)
                } else if !app.target.isForeground, !core.foreground.contains(id), !isTakingOver {
                    report("\(id)/\(scene.id) is there without a request")
                }
                sessions[id, default: [:]][scene.id] = session
            }
        }
    }

    /// An app that is started again at once has new scenes of the old names, where the old ones went with its process; and so
    /// has one in front of which the last scene is closed before it was connected.
    private mutating func noteNamesakes(of app: AppMachine) {
        for scene in app.scenes.all where !scene.wasConnected {
            guard let before = sessions[app.id]?[scene.id],
                app.state.isAlive
                    ? before.isCloseWanted && before.state == .unattached && before.isNot(scene)
                    : before.wasConnected || before.isCloseWanted || before.state != .unattached
                        || before.made != scene.since || before.origin != scene.origin
            else { continue }
            sessions[app.id]?[scene.id] = ObservedScene(
                state: before.state, info: scene.info, origin: scene.origin, made: scene.since)
            sessions[app.id]?[scene.id]?.isNamesake = before.state != .unattached
        }
    }

    /// Scenes that no process has had go with the launch that failed; one that follows at once may have others of their names.
    mutating func forgetNewScenes(of id: AppID) {
        for (scene, session) in sessions[id] ?? [:] where !session.wasConnected {
            sessions[id]?[scene] = core.knownApps[id]?.scenes[scene].map {
                ObservedScene(info: $0.info, origin: $0.origin, made: $0.since)
            }
        }
    }

    private func opening(in input: Input, by id: AppID) -> (SceneOpening, Scene.Origin)? {
        switch input {
        case .request(_, .openScene(id, let opening, let background)): (opening, background ? .system : .user)
        case .message(let app, .openScene(let scene, let role, let info)) where core.id(of: app) == id:
            (SceneOpening(scene: scene, role: role, info: info), .app)
        default: nil
        }
    }

    /// True if an app has failed once more without its state. The scenes of that launch go with it.
    private func hasFailedAgain(_ app: AppMachine) -> Bool {
        app.lastExit?.restoreFailure != nil
    }

    /// Scenes that there are no more: they were closed, and the app knows it, or went with an app that is not restored.
    mutating func noteForgottenScenes(of id: AppID) {
        let app = core.knownApps[id]
        for (scene, session) in sessions[id] ?? [:] where app?.scenes[scene] == nil {
            sessions[id]?[scene] = nil
            guard let app else { continue }
            let cause = trees[id]?.watch.cause ?? ends[id] ?? .unclear
            if app.state.isAlive {
                if !session.isCloseWanted { report("\(id)/\(scene) is forgotten without a request") }
                guard app.isConnected, let tree = trees[id], tree.hasSaidHello, tree.channel == .open else { continue }
                if tree.watch.automaton.scenes[scene]?.isConnected == true {
                    report("\(id)/\(scene) is forgotten, and \(id) has not heard so")
                }
            } else if cause == .system, !session.isCloseWanted, session.wasConnected, !hasFailedAgain(app) {
                report("\(id)/\(scene) is forgotten with an app that is to find it again")
            }
        }
    }
}
