import LifecycleCore

/// The promises about single steps.
extension Machine {
    // MARK: Telling

    /// An app is told something: it has to listen, and to run.
    mutating func watchTelling(_ id: AppID, _ what: String) {
        guard let tree = trees[id] else { return report("\(what) for \(id), which does not run") }
        if !tree.hasSaidHello { report("\(id) is told \(what), and is not connected") }
        if tree.isStopped { report("\(id) is told \(what) while it is stopped") }
        if tree.asked != nil { report("\(id) is told \(what) after SIGTERM") }
        if tree.killed != nil { report("\(id) is told \(what) after SIGKILL") }
    }

    mutating func watchDelivery(_ delivery: Delivery, to id: AppID) {
        let callback = delivery.callback
        watchTelling(id, callback.rawValue)
        toldAnew.insert(id)
        resent.insert(id)
        guard let tree = trees[id] else { return }
        checkTime(of: delivery, id)
        if callback == .performTask {
            if let task = tree.watch.task, task.sequence != delivery.sequence {
                report("\(id) is given a task while it works on another")
            }
            trees[id]?.watch.task = delivery
        } else {
            noteOutstanding(delivery, id)
        }
        // What it has had before is no news to it.
        guard delivery.sequence > tree.lastSequence else { return }
        noteHandover(delivery, id)
        if let problem = trees[id]?.watch.automaton.told(delivery) { report("\(id) is told \(problem)") }
        if let news = delivery.scene { watchSceneNews(delivery, news, id) }
        switch callback {
        case .didBecomeActive, .sceneDidBecomeActive: becomeActive(id)
        case .willResignActive, .sceneWillResignActive: noteResignation(delivery, id)
        case .willFinishLaunching: checkRestoration(delivery, id)
        default: break
        }
    }

    /// A resignation is sent at once; every other callback waits for the answers to those before.
    private mutating func noteOutstanding(_ delivery: Delivery, _ id: AppID) {
        guard let watch = trees[id]?.watch else { return }
        let unanswered = ([watch.outstanding].compactMap { $0 } + watch.resignations).filter {
            $0.sequence != delivery.sequence && $0.sequence != watch.excused
        }
        if delivery.isResignation,
            !unanswered.isEmpty || watch.resignations.contains(where: { $0.sequence == delivery.sequence })
        {
            trees[id]?.watch.resignations.removeAll { $0.sequence == delivery.sequence }
            trees[id]?.watch.resignations.append(delivery)
            return
        }
        for before in unanswered where before.sequence < delivery.sequence && now < before.deadline {
            report("\(id) is told \(delivery.callback.rawValue) and has not answered \(before.callback.rawValue)")
        }
        trees[id]?.watch.outstanding = delivery
        trees[id]?.watch.resignations.removeAll { $0.sequence < delivery.sequence }
    }

    private mutating func checkTime(of delivery: Delivery, _ id: AppID) {
        let times = timeouts(of: id)
        let most =
            switch delivery.callback {
            case .willResignActive, .sceneWillResignActive: times.willResignActive
            case .didEnterBackground, .sceneDidEnterBackground: times.didEnterBackground
            case .sceneDidDisconnect: max(times.callback, times.termination)
            case .willFinishLaunching, .didFinishLaunching: times.launch
            case .performTask: times.task
            default: times.callback
            }
        // Those of a launch that has to be answered end with its time.
        let mayBeLate = [.willFinishLaunching, .didFinishLaunching, .sceneDidDisconnect].contains(delivery.callback)
        let least = mayBeLate || isAwayPossible ? .zero : most
        let time = delivery.deadline.duration(since: now)
        if time > most || time < least {
            report("\(id) has \(time) for \(delivery.callback.rawValue), not \(most)")
        }
    }

    private var isAwayPossible: Bool { setup.deaths != .none }

    private mutating func noteHandover(_ delivery: Delivery, _ id: AppID) {
        guard let key = delivery.event?.event.key, var handover = handovers[key] else { return }
        let isNew = handover.told.insert(delivery.sequence).inserted
        // Where every possibility is tried in turn, the same is handed over again.
        let isOnce = !chance.isBlind
        if isOnce, !isNew || handover.told.count > 1 || handover.isArgument { report("\(id) is handed \(key) twice") }
        if isOnce, handover.isOver { report("\(id) is handed \(key), and its end was told") }
        handovers[key] = handover
    }

    /// No app becomes active before those in the way have resigned, or have had the time for it.
    private mutating func becomeActive(_ id: AppID) {
        let limit = now < lastLimit.until ? max(lastLimit.limit, settings.foregroundLimit) : settings.foregroundLimit
        let others = trees.filter { $0.key != id && believesActive($0.key, $0.value) }.keys
        if others.count >= limit { report("\(id) is told that it is active, and so believe \(others.sorted())") }
        guard trees[id]?.hasScenes == false else { return }
        trees[id]?.watch.believesActive = true
        trees[id]?.watch.resignsBy = nil
    }

    /// An inactive app has resigned, or has had the time for it, and has no more of it when it is wanted again.
    mutating func stopBeingActive(_ id: AppID) {
        guard let tree = trees[id], tree.watch.believesActive || tree.hasScenes else { return }
        if believesActive(id, tree) { report("\(id) is called inactive, and may believe that it is active") }
        trees[id]?.watch.resignsBy = now
    }

    func believesActive(_ id: AppID, _ tree: Tree) -> Bool {
        guard tree.watch.believesActive(at: now), tree.asked == nil, tree.killed == nil, tree.mainStatus == nil else {
            return false
        }
        // The next daemon ends it in the same turn, when it has listened to the channels that were kept.
        if isTakingOver, states[id] == .terminating { return false }
        // It is asked to end, or killed, after what others are told in the same input.
        if endsBegun[id] != nil { return false }
        if hasStayedAway(id, tree) { return false }
        guard let since = tree.watch.unwantedSince else { return true }
        return now < since + timeouts(of: id).willResignActive
    }

    /// A Boolean value that indicates whether the app did not reconnect in time, and is not connected any more.
    private func hasStayedAway(_ id: AppID, _ tree: Tree) -> Bool {
        tree.channel == .lost && core.knownApps[id]?.isReconnecting == false
    }

    private mutating func checkRestoration(_ delivery: Delivery, _ id: AppID) {
        guard let launch = delivery.launch else { return report("\(id) is not told why it was launched") }
        if !launch.reason.isLaunchReason { report("\(id) is launched for \(launch.reason)") }
        if let exit = launch.previous, !exit.reason.isExitReason { report("\(id) has ended for \(exit.reason)") }
        if launch.previous?.restoreFailure != nil {
            if launch.restores { report("\(id) restores a state that has failed") }
            if launch.previous?.reason.isFailure != true { report("\(id) has not failed, and is not restored") }
            return
        }
        switch ends[id] {
        case .system where !launch.restores: report("\(id) is not restored after the system has ended it")
        case .user where launch.restores: report("\(id) is restored after a user has ended it")
        case .itself where launch.restores: report("\(id) is restored after it has ended with success")
        case nil where launch.previous != nil: report("\(id) is told of an end before its first")
        default: break
        }
    }

    // MARK: Stopping and ending

    /// No app is suspended that is in use, holds an assertion, or has background time left.
    mutating func watchStop(_ id: AppID) {
        guard let tree = trees[id] else { return report("\(id) is stopped, and does not run") }
        let watch = tree.watch
        if policies[id]?.suspend == .never { report("\(id) is stopped, and may never be") }
        if core.foreground.contains(id), core.foregroundBlockers.isEmpty, core.interruptions.isEmpty {
            report("\(id) is stopped in the foreground")
        }
        if states[id]?.isForeground == true { report("\(id) is stopped in sight") }
        watchUse(of: id)
        if let task = watch.task, now < task.deadline, !hasStayedAway(id, tree) {
            report("\(id) is stopped in the middle of its task")
        }
        if watch.isOutstanding(at: now) { report("\(id) is stopped before it has answered") }
        // An app that another program has continued stays suspended, whatever it has begun in that moment.
        if states[id] == .suspended { return }
        let isConnected = core.knownApps[id]?.isConnected == true
        // An app that is not connected any more holds no assertion.
        if isConnected, !watch.isToStopAtOnce, !watch.granted.isEmpty {
            report("\(id) is stopped, and held by \(watch.granted.keys.sorted())")
        }
        let isShown = watch.automaton.scenes.values.contains(where: \.isShown)
        if isConnected, isShown || [.didBecomeActive, .willResignActive].contains(watch.automaton.last) {
            report("\(id) is stopped, and has not been told that it is in the background")
        }
        guard !isConnected, !watch.wasLinkedInBackground, !watch.isToSleepAtOnce, let since = watch.backgroundSince
        else {
            return
        }
        // An app that does not answer in time has no more for closing its channel.
        let isOverdue = watch.answerDue.map { $0 <= now } ?? false
        if !isOverdue, now < since + timeouts(of: id).background {
            report("\(id) is stopped \(now.duration(since: since)) after it has left the front")
        }
    }

    /// No app is suspended that is visible, or plays and may.
    private mutating func watchUse(of id: AppID) {
        // An app that another program has continued is suspended again, whatever it does.
        guard states[id] != .suspended, trees[id]?.watch.isToStopAtOnce == false, let use = keepingUse(of: id) else {
            return
        }
        report("\(id) is stopped, and is \(use.rawValue)")
    }

    private func keepingUse(of id: AppID) -> Use? {
        guard let policy = core.knownApps[id]?.policy else { return nil }
        return Use.allCases.first { use in
            used[use]?.contains(id) == true && settings.keptUses.keep(use, policy)
                && (![.visible, .pointed].contains(use) || core.foregroundBlockers.isEmpty)
        }
    }

    mutating func watchTerminate(_ id: AppID) {
        guard let tree = trees[id], !(isTakingOver && tree.asked != nil) else { return }
        if tree.asked != nil, tree.mainStatus == nil { report("\(id) is sent SIGTERM twice") }
        checkSceneDisconnection(id)
        noteAsked(id)
        // One whose channel went with a daemon cannot be told to resign, and one that was silent is told late.
        if tree.mainStatus == nil, tree.channel != .lost, !tree.watch.automaton.wasLate, believesActive(id, tree) {
            report("\(id) is sent SIGTERM while it believes that it is active")
        }
        if tree.watch.cause == nil { trees[id]?.watch.cause = tree.watch.endWanted == nil ? .unclear : .user }
    }

    mutating func watchKill(_ id: AppID) {
        guard let tree = trees[id], tree.killed == nil else { return }
        let cause = tree.watch.causeToKill ?? causeToKill(id, tree)
        if cause == nil { report("\(id) is killed for no reason") }
        if tree.watch.cause == nil { trees[id]?.watch.cause = cause }
    }

    /// The next daemon may do late what there was a reason for when the app's end began.
    mutating func noteCauseToKill(_ id: AppID) {
        let cause = trees[id].flatMap { causeToKill(id, $0) }
        trees[id]?.watch.causeToKill = cause
    }

    private func causeToKill(_ id: AppID, _ tree: Tree) -> EndCause? {
        let (watch, times) = (tree.watch, timeouts(of: id))
        if watch.isKillWanted { return .user }
        if tree.isKeeperEnded { return watch.endWanted == nil ? .system : .unclear }
        if let asked = watch.asked {
            if asked + times.termination <= now { return .unclear }
            // The time in which an app hears of its scenes' end, half of all at most, is taken from that of SIGTERM.
            if core.knownApps[id]?.hasScenes == true, asked + times.termination / 2 <= now,
                let wanted = watch.wantedToEnd, wanted + times.termination <= now
            {
                return .unclear
            }
        }
        if watch.isVictim, watch.victimState == .suspended { return .system }
        if watch.hasMissedBackground { return .system }
        if let told = watch.expiredAt, told + times.taskExpiration <= now, watch.hasTasks, keepingUse(of: id) == nil {
            return .system
        }
        let isRequired = core.knownApps[id]?.policy.callbacks == .required
        if isRequired, !watch.hasAnsweredLaunch, let started = watch.started, started + times.launch <= now {
            return .system
        }
        if isRequired, let delivery = watch.outstanding, delivery.launch != nil, delivery.deadline <= now {
            return .system
        }
        // SIGTERM is for a program of which it is known that it runs.
        if states[id] ?? .notRunning == .notRunning, let wanted = watch.endWanted, wanted + times.termination <= now {
            return .unclear
        }
        return nil
    }

    /// No app is ended that is in use, or that may never be ended, and one is ended at a time.
    mutating func watchVictim(_ id: AppID) {
        if core.foreground.contains(id) { report("\(id) is in the foreground, and ended for its memory") }
        if policies[id]?.suspend == .never { report("\(id) is never suspended, and ended for its memory") }
        checkNoScenesToReclaim(before: id)
        let sleepers = states.filter { $0.value == .suspended }.keys
        if states[id] == .background, !sleepers.filter({ canGo($0) }).isEmpty {
            report("\(id) is ended for its memory before \(sleepers.sorted())")
        }
        trees[id]?.watch.isVictim = true
        trees[id]?.watch.victimState = states[id] ?? .notRunning
        trees[id]?.watch.victimSince = now
        if trees[id]?.watch.cause == nil { trees[id]?.watch.cause = .system }
    }

    /// An app that was to end, and is wanted again before it was asked to, has not been ended.
    mutating func noteRescues() {
        for (id, tree) in trees where tree.watch.isVictim && core.knownApps[id]?.reclaimed == nil { noteRescue(of: id) }
    }

    private mutating func noteRescue(of id: AppID) {
        guard let tree = trees[id], tree.watch.isVictim, tree.asked == nil, tree.killed == nil, tree.mainStatus == nil
        else { return }
        trees[id]?.watch.isVictim = false
        // The end that a user wants goes on, and its scenes hear of it since then.
        if tree.watch.endWanted == nil { trees[id]?.watch.victimSince = nil }
        if tree.watch.cause == .system { trees[id]?.watch.cause = nil }
    }

    /// A foreground app that is only blocked is ended last.
    private func canGo(_ id: AppID) -> Bool {
        guard let app = core.knownApps[id] else { return false }
        return app.target == .suspended && app.isStoppedOrStopping && app.state == .suspended
            && app.policy.suspend != .never && !core.foreground.contains(id)
    }
}

extension Watch {
    /// A Boolean value that indicates whether the app, or a scene of it, was told that it is active, and neither gave that up nor let its time for it pass.
    func believesActive(at now: Instant) -> Bool {
        if believesActive, resignsBy.map({ $0 > now }) ?? true { return true }
        return scenes.values.contains { $0.believesActive && ($0.resignsBy.map { $0 > now } ?? true) }
    }

    /// A Boolean value that indicates whether the app was told to resign, and has time left for that.
    func isResigning(at now: Instant) -> Bool { believesActive && resignsBy.map { $0 > now } ?? false }

    func isOutstanding(at now: Instant) -> Bool {
        ([outstanding].compactMap { $0 } + resignations).contains { now < $0.deadline }
    }
}
