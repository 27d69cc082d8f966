import LifecycleCore

/// The daemon is killed, and another one restores the apps.
extension Machine {
    /// - Parameter input: What it was dealing with.
    mutating func die(during input: Input?, downtime: Duration) {
        if isTold { story.append(.note("the daemon is killed")) }
        open.removeAll()
        restarted.removeAll()
        used.removeAll()
        candidates.removeAll()
        isDead = true
        queue.removeAll { event in
            switch event {
            case .notice(_, .stopped, _), .notice(_, .resumed, _), .notice(_, .stopIncomplete, _), .look: true
            case .notice(_, .spawnFailed, _), .notice(_, .resumedByOther, _), .notice(_, .memoryMeasured, _): true
            default: false
            }
        }
        for id in trees.keys.sorted() { loseDaemon(id) }
        // What an app says leaves its socket only when it has been dealt with.
        if setup.deaths == .channelsKept, case .message(let app, let message) = input, chance.happens(50) {
            let id = core.id(of: app)
            if case .reconnected = message {} else { trees[id]?.unread.insert(message, at: 0) }
        }
        pass(downtime)
        isDead = false
        if problems.isEmpty { restore() }
    }

    private mutating func loseDaemon(_ id: AppID) {
        guard let tree = trees[id] else { return }
        // An app that was killed before it had failed was a process after all.
        if tree.failsToStart, !tree.runs {
            trees[id] = nil
            return
        }
        // A program that was not let go never is.
        if !tree.runs, chance.happens(50) {
            trees[id] = nil
            return
        }
        guard setup.deaths == .channelsLost, tree.channel == .open else { return }
        trees[id]?.channel = .lost
        trees[id]?.watch.wasAway = true
        // It may lose while it is away what it was about to be told.
        trees[id]?.watch.automaton.wasLate = true
        // Unread lines, on either side, are lost.
        trees[id]?.inbox = []
        queue.removeAll { event in
            if case .line(id, _, _) = event { true } else { false }
        }
        if !tree.isStopped { later(.comeBack(id, launch: tree.number), within: 4000) }
    }

    private mutating func restore() {
        isTakingOver = true
        tookOver = now
        let before = deadlines
        resent = []
        let policies = policies
        core = Engine(
            restoring: file.machine, apps: file.apps.sorted { $0.key < $1.key }.map(\.value), settings: settings,
            policy: { policies[$0] }, at: now)
        if isTold { story.append(.note("the next daemon restores the apps")) }
        adoptScenes()
        let running = core.knownApps.values.filter(\.isRunning).sorted { $0.id < $1.id }
        var ended: [(AppMachine, ExitStatus)] = []
        for app in running { if let status = adopt(app) { ended.append((app, status)) } }
        for id in trees.keys.sorted() where core.knownApps[id]?.isRunning != true {
            report("\(id) runs, and the next daemon knows nothing of it")
        }
        file.beginAnew(core)
        for app in core.knownApps.values.filter(\.isReconnecting).sorted(by: { $0.id < $1.id }) {
            guard let tree = trees[app.id], tree.channel == .open else { continue }
            give(.message(app.index, .reconnected(lastSequence: file.told[app.id] ?? 0)))
            sayAgain(app.id)
        }
        for (id, policy) in policies.sorted(by: { $0.key < $1.key }) { give(.define(id, policy)) }
        for (app, status) in ended {
            trees[app.id]?.isExitReported = true
            give(.outcome(app.index, .exited(status, othersLeft: false)))
        }
        give(.resumeRestored)
        checkRestoredDeadlines(before)
        isTakingOver = false
        lookAtAdopted()
        give(.start)
        readOn()
    }

    /// - Returns: The exit of the app, when nothing is left of it.
    private mutating func adopt(_ app: AppMachine) -> ExitStatus? {
        guard let tree = trees[app.id], tree.launched == app.launched else {
            trees[app.id] = nil
            return app.isSpawning ? nil : .unknown
        }
        trees[app.id]?.app = app.index
        guard tree.isGone else {
            if tree.channel == .open, app.isConnected != tree.hasSaidHello {
                trees[app.id]?.hasSaidHello = app.isConnected
            }
            return nil
        }
        // A program that may never have run is started again.
        if app.isSpawning, !tree.runs {
            trees[app.id] = nil
            return nil
        }
        return tree.mainStatus ?? .unknown
    }

    private mutating func lookAtAdopted() {
        for id in trees.keys.sorted() {
            guard let tree = trees[id] else { continue }
            if tree.isKeeperEnded, !tree.isGone { give(.outcome(tree.app, .keeperEnded)) }
            guard let status = tree.mainStatus else { continue }
            if !tree.isExitReported {
                trees[id]?.isExitReported = true
                give(.outcome(tree.app, .exited(status, othersLeft: !tree.isGone)))
            } else if tree.isGone {
                give(.outcome(tree.app, .gone))
            }
        }
    }

    /// Lines that the apps sent without a daemon are read now.
    private mutating func readOn() {
        for id in trees.keys.sorted() {
            guard let tree = trees[id] else { continue }
            trees[id]?.unread = []
            let waiting = queue.ordered.filter { entry in
                if case .line(id, _, _) = entry.event { true } else { false }
            }
            queue.removeAll { event in
                if case .line(id, _, _) = event { true } else { false }
            }
            for message in tree.unread { queue.add(.line(id, message, launch: tree.number), at: now) }
            for entry in waiting { queue.add(entry.event, at: max(entry.time, now)) }
        }
    }

    // MARK: Coming back

    /// The library connects again.
    mutating func comeBack(_ id: AppID) {
        guard let tree = trees[id], tree.channel == .lost, tree.canAct else { return }
        guard !isDead else { return later(.comeBack(id, launch: tree.number), within: 1000) }
        // An app that stayed away for too long, or never was there, is not let in any more.
        guard core.knownApps[id]?.isReconnecting == true else {
            trees[id]?.channel = .closed
            return
        }
        trees[id]?.channel = .open
        trees[id]?.lastLine = now
        give(.message(tree.app, .reconnected(lastSequence: tree.lastSequence)))
        sayAgain(id)
        beginTurn(id)
    }

    /// The app repeats what may have been lost: what it has begun and ended, and its last answer.
    private mutating func sayAgain(_ id: AppID) {
        guard let tree = trees[id], tree.canAct else { return }
        for (number, isActivity) in tree.heldAssertions.sorted(by: { $0.key < $1.key }) {
            say(isActivity ? .beginActivity(number, mode: "audio") : .beginTask(number, name: "task"), id)
        }
        for number in tree.watch.granted.keys.sorted() where tree.heldAssertions[number] == nil {
            say(.endAssertion(number), id)
        }
        for scene in tree.scenes.sorted() {
            if tree.closing.contains(scene) {
                say(.closeScene(scene), id)
            } else if let info = tree.infos[scene] {
                say(.sceneInfo(scene, info), id)
            }
        }
        for last in tree.lastAnswers { say(.done(sequence: last.sequence, last.answer), id) }
        if let last = tree.taskAnswer { say(.done(sequence: last.sequence, last.answer), id) }
    }
}
