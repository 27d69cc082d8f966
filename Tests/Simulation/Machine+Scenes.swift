import LifecycleCore

/// The promises about scenes: what holds of each, and of its app because of them.
extension Machine {
    // MARK: Steps

    mutating func watchSceneStep(_ step: SceneTransition) {
        let (id, name) = (step.app, "\(step.app)/\(step.scene)")
        let before = sessions[id]?[step.scene]?.state ?? .unattached
        if step.from != before { report("\(name) was \(before), not \(step.from)") }
        if trees[id]?.hasScenes == false { report("\(id) has no scenes, and \(name) is \(step.to)") }
        if !isLegal(step) { report("\(name): \(step.from) → \(step.to)") }
        if step.from == .foregroundActive { stopBeingActive(step.scene, of: id, isEnding: step.to == .unattached) }
        if step.to == .foregroundActive { checkSceneCount(id) }
        if step.to.isForeground, trees[id]?.isStopped == true { report("\(name) is \(step.to), and \(id) stopped") }
        sessions[id]?[step.scene]?.state = step.to
        if step.to == .unattached {
            let isNamesake = sessions[id]?[step.scene]?.isNamesake ?? false
            sessions[id]?[step.scene]?.wasConnected = !isNamesake
            sessions[id]?[step.scene]?.isNamesake = false
        } else if step.from == .unattached {
            sessions[id]?[step.scene]?.isReclaimed = false
            sessions[id]?[step.scene]?.isAskedFor = false
        }
    }

    /// The picture of a scene's life: connected into the front or in the background, to and fro between these, asleep with its
    /// process; disconnected in the background, or wherever it is when its app ends.
    private func isLegal(_ step: SceneTransition) -> Bool {
        switch (step.from, step.to) {
        case (.unattached, .foregroundInactive), (.unattached, .background),
            (.foregroundInactive, .foregroundActive), (.foregroundActive, .foregroundInactive),
            (.foregroundInactive, .background), (.background, .foregroundInactive),
            (.background, .suspended), (.suspended, .background),
            (.background, .unattached), (.suspended, .unattached):
            true
        case (.foregroundInactive, .unattached), (.foregroundActive, .unattached):
            core.knownApps[step.app].map { !$0.state.isAlive || !$0.target.isAlive } ?? true
        default: false
        }
    }

    /// No more scenes of an app become active than it may have in the foreground.
    private mutating func checkSceneCount(_ id: AppID) {
        let limit = max(1, core.knownApps[id]?.policy.sceneLimit ?? 1)
        let active = (sessions[id] ?? [:]).values.count { $0.state == .foregroundActive }
        if active >= limit { report("one more scene of \(id) is active than the \(limit) that may be") }
    }

    /// A scene that is called inactive has resigned, or its time for that is over.
    private mutating func stopBeingActive(_ scene: SceneID, of id: AppID, isEnding: Bool) {
        guard let tree = trees[id], let watch = tree.watch.scenes[scene], watch.believesActive else { return }
        // An app that ends may take its scenes with it.
        if !isEnding, believesActive(id, tree), watch.resignsBy.map({ $0 > now }) ?? true {
            report("\(id)/\(scene) is called inactive, and may believe that it is active")
        }
        trees[id]?.watch.scenes[scene]?.resignsBy = now
    }

    // MARK: Telling

    /// The replies about a scene agree with its state.
    mutating func watchSceneNews(_ delivery: Delivery, _ news: SceneNews, _ id: AppID) {
        let name = "\(id)/\(news.scene)"
        switch delivery.callback {
        case .sceneWillConnect:
            guard let session = sessions[id]?[news.scene] else { return report("\(name) connects, and is not there") }
            let reason = session.wasConnected ? "restoration" : session.origin.rawValue
            if news.reason?.rawValue != reason {
                report("\(name) connects for \(news.reason?.rawValue ?? "nothing"), not \(reason)")
            }
            let info = core.knownApps[id]?.scenes[news.scene]?.info
            if info != session.info { report("\(name) shows \(info ?? "nothing"), not \(session.info ?? "nothing")") }
        case .sceneDidDisconnect: watchDisconnection(news, id)
        case .sceneDidBecomeActive: trees[id]?.watch.scenes[news.scene] = SceneWatch(believesActive: true)
        default: break
        }
    }

    private mutating func watchDisconnection(_ news: SceneNews, _ id: AppID) {
        let session = sessions[id]?[news.scene]
        let isTrue =
            switch news.reason {
            case .closed: session.map { $0.wasCloseWanted } ?? true
            case .reclaimed: session.map { $0.isReclaimed || $0.wasCloseWanted } ?? false
            // An app that is wanted again meanwhile hears why it was to lose the scene.
            case .terminating: core.knownApps[id]?.target == .notRunning || trees[id]?.watch.wantedToEnd != nil
            default: false
            }
        if !isTrue {
            report("\(id)/\(news.scene) is disconnected for \(news.reason?.rawValue ?? "nothing"), which is not so")
        }
    }

    // MARK: Memory

    /// Background scenes can be reclaimed without a loss for users.
    mutating func noteReclaimed(_ scenes: [SceneID], of id: AppID) {
        for scene in scenes {
            if sessions[id]?[scene]?.state.isConnectedInBackground != true {
                report("\(id)/\(scene) is taken back, and \(sessions[id]?[scene]?.state ?? .unattached)")
            }
            sessions[id]?[scene]?.isReclaimed = true
        }
    }

    /// No app is ended for its memory as long as there are scenes to take back.
    mutating func checkNoScenesToReclaim(before victim: AppID) {
        if case .suspendedLimit = core.knownApps[victim]?.reclaimed?.cause { return }
        for (id, scenes) in sessions {
            guard let app = core.knownApps[id], app.state.isAlive, app.target.isAlive || id == victim else { continue }
            if app.target.isForeground { continue }
            let left = scenes.filter {
                $0.value.state.isConnectedInBackground && !$0.value.isReclaimed && !$0.value.isCloseWanted
            }
            if !left.isEmpty { report("\(victim) is ended for its memory before \(id)/\(left.keys.sorted())") }
        }
    }

    // MARK: After an input

    mutating func checkScenes(_ changed: [AppID]) {
        for id in changed {
            noteForgottenScenes(of: id)
            guard let app = core.knownApps[id] else { continue }
            if app.scenes.all.count > Scenes.limit + 1 { report("\(id) has \(app.scenes.all.count) scenes") }
            for scene in app.scenes.all where scene.state != sessions[id]?[scene.id]?.state {
                report("\(id)/\(scene.id) is \(scene.state), without a report")
            }
            let states = app.scenes.all.map(\.state)
            if Set(app.scenes.all.map(\.id)).count < states.count { report("\(id) has two scenes of one name") }
            for scene in app.scenes.foreground where app.scenes[scene] == nil {
                report("\(id)/\(scene) is in the foreground, and there is no such scene")
            }
            if !isPossible(states, for: app) { report("\(id) is \(app.state), and its scenes are \(states)") }
        }
    }

    /// An app is as far in the foreground as its scenes are, and they sleep when it sleeps. It is inactive, too, while it launches or
    /// ends and has none.
    private func isPossible(_ states: [SceneState], for app: AppMachine) -> Bool {
        guard app.hasScenes, app.isRunning else { return states.allSatisfy { $0 == .unattached } }
        return switch app.state {
        case .notRunning, .terminating: states.allSatisfy { $0 == .unattached }
        case .active: states.contains(.foregroundActive) && !states.contains(.suspended)
        case .inactive: !states.contains(.foregroundActive) && !states.contains(.suspended)
        case .background: states.allSatisfy { $0 == .background || $0 == .unattached }
        case .suspended: states.allSatisfy { $0 == .suspended || $0 == .unattached }
        }
    }

    /// What a user has ended is not found again, unless it was set aside and is asked for.
    mutating func checkEndOfScenes(_ id: AppID) {
        guard trees[id]?.watch.cause == .user, let app = core.knownApps[id], app.desired != .run else { return }
        let kept = app.scenes.all.filter { scene in
            guard let session = sessions[id]?[scene.id], !scene.isSetAside else { return false }
            return session.wasConnected && !session.isAskedFor
        }.map(\.id)
        if !kept.isEmpty { report("\(id) was ended by a user, and keeps \(kept)") }
    }

    /// An app that runs hears of its scenes' end before its own, in half of the time that it has for both.
    mutating func checkSceneDisconnection(_ id: AppID) {
        guard let tree = trees[id], tree.hasSaidHello, tree.channel == .open, tree.mainStatus == nil else { return }
        guard let from = tree.watch.endedFrom, from != .suspended, tree.watch.hasAnsweredLaunch,
            let wanted = tree.watch.wantedToEnd, now < wanted + timeouts(of: id).termination / 2
        else { return }
        let left = tree.watch.automaton.scenes.filter(\.value.isConnected).keys
        if !left.isEmpty { report("\(id) is sent SIGTERM, and believes that it has \(left.sorted())") }
    }

    /// The next daemon knows what the previous daemon knew.
    mutating func adoptScenes() {
        for app in core.knownApps.values {
            for scene in app.scenes.all where sessions[app.id]?[scene.id] == nil {
                sessions[app.id, default: [:]][scene.id] = ObservedScene(
                    info: scene.info, origin: scene.origin, made: scene.since)
            }
        }
        for (id, scenes) in sessions {
            for (scene, session) in scenes {
                guard let found = core.knownApps[id]?.scenes[scene] else {
                    sessions[id]?[scene] = nil
                    continue
                }
                if found.state != session.state { report("\(id)/\(scene) was \(session.state), not \(found.state)") }
                if found.info != session.info { report("\(id)/\(scene) showed \(session.info ?? "nothing")") }
            }
        }
    }

    // MARK: Rest

    mutating func checkScenesAtRest(_ when: String) {
        for app in core.knownApps.values.sorted(by: { $0.id < $1.id }) where app.isRunning && app.hasScenes {
            // An app that another program has stopped cannot say that its task has ended.
            if trees[app.id]?.isStoppedByOther == true { continue }
            for scene in app.scenes.all where scene.state != app.sceneTarget(of: scene) {
                report("\(when): \(app.id)/\(scene.id) is \(scene.state), not \(app.sceneTarget(of: scene))")
            }
            if app.state == .active, !app.scenes.all.contains(where: { $0.state == .foregroundActive }) {
                report("\(when): \(app.id) is active, and shows nothing")
            }
        }
    }

    /// Each scene of an app in the foreground can be had in the foreground.
    mutating func expectScenesInForeground(of id: AppID) {
        guard let app = core.knownApps[id], app.hasScenes else { return }
        for scene in app.scenes.all {
            ask(.focusScene(id, scene.id))
            pass(.seconds(8))
            guard problems.isEmpty, trees[id] != nil, core.foreground.contains(id) else { return }
            guard let found = core.knownApps[id]?.scenes[scene.id] else { continue }
            if found.state != .foregroundActive {
                report("\(id)/\(scene.id) was wanted in the foreground, and is \(found.state)")
            }
        }
    }
}
