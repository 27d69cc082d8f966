import LifecycleCore

/// The onlooker: holds what the core does against what was promised, and asks none of the core's tables.
extension Machine {
    func timeouts(of id: AppID) -> Timeouts { core.knownApps[id]?.policy.timeouts ?? settings.timeouts }

    /// What an input changes by itself, before the core has had a say.
    mutating func noteBefore(_ input: Input) {
        noteScenesBefore(input)
        noteLettingGo(input)
        switch input {
        case .message(let app, let message): note(message, from: core.id(of: app))
        case .request(let number, .restart(let id)):
            restarted[number.number] = trees[id]?.number
            guard states[id] != .terminating else { break }
            trees[id]?.watch.wantEnd(now)
            endsWanted[id] = trees[id]?.watch.endWanted
        case .request(_, .terminate(let id)):
            trees[id]?.watch.wantEnd(now)
            endsWanted[id] = trees[id]?.watch.endWanted
        case .request(_, .kill(let id)):
            trees[id]?.watch.wantEnd(now)
            trees[id]?.watch.isKillWanted = true
            if core.knownApps[id]?.isRunning == true { killsWanted.insert(id) }
        case .request(_, .suspend(let id, let isAtOnce)):
            trees[id]?.watch.isToSleepAtOnce = true
            if isAtOnce { trees[id]?.watch.isToStopAtOnce = true }
            if core.knownApps[id]?.isRunning == true { sleepWanted.insert(id) }
        case .setUses(let use, let ids): used[use] = ids.filter { core.knownApps[$0] != nil }
        case .shutDown:
            for id in trees.keys { trees[id]?.watch.wantEnd(now) }
        case .outcome(let app, .exited(let status, _)): noteExit(of: core.id(of: app), status)
        case .outcome(let app, .spawned): trees[core.id(of: app)]?.watch.start(now)
        default: break
        }
    }

    private mutating func note(_ message: AppMessage, from id: AppID) {
        switch message {
        case .hello: trees[id]?.watch.start(now)
        case .done(let sequence, let answer): note(answer, to: sequence, from: id)
        case .endAssertion(let number):
            trees[id]?.watch.granted[number] = nil
            if trees[id]?.watch.hasTasks == false { trees[id]?.watch.expiredAt = nil }
        case .closed:
            let answerDue = trees[id]?.watch.outstanding?.deadline
            trees[id]?.watch.answerDue = answerDue
            endConversation(of: id)
            // From now on it has the time of an app without a channel, unless that runs since it has left the foreground.
            if states[id] == .background, trees[id]?.watch.wasLinkedInBackground == true {
                trees[id]?.watch.backgroundSince = now
            }
            trees[id]?.watch.wasLinkedInBackground = false
        case .beginTask, .beginActivity, .openScene, .closeScene, .sceneInfo, .timeLeft, .reconnected: break
        }
    }

    private mutating func note(_ answer: AppAnswer, to sequence: UInt64, from id: AppID) {
        guard let watch = trees[id]?.watch else { return }
        if let task = watch.task, task.sequence == sequence {
            trees[id]?.watch.task = nil
            noteAnswer(answer, to: task)
        } else if let delivery = watch.outstanding, delivery.sequence == sequence {
            trees[id]?.watch.outstanding = nil
            noteAnswer(answer, to: delivery)
            noteLeavingPlace(delivery, id)
            switch delivery.callback {
            case .didFinishLaunching: trees[id]?.watch.hasAnsweredLaunch = true
            default: break
            }
        } else if let delivery = watch.resignations.first(where: { $0.sequence == sequence }) {
            trees[id]?.watch.resignations.removeAll { $0.sequence == sequence }
            noteLeavingPlace(delivery, id)
        }
    }

    /// The app, or the scene, has resigned, or is not waited for any longer.
    private mutating func noteLeavingPlace(_ delivery: Delivery, _ id: AppID) {
        if delivery.callback == .willResignActive { trees[id]?.watch.believesActive = false }
        if delivery.callback == .sceneWillResignActive { forgetScene(of: delivery, id) }
    }

    private mutating func noteAnswer(_ answer: AppAnswer, to delivery: Delivery) {
        if let key = delivery.event?.event.key {
            handovers[key]?.answer = answer
        } else if delivery.launch?.url != nil, answer == .handled(false), let key = delivery.launch?.url {
            handovers[key]?.isDeclined = true
        }
    }

    private mutating func noteExit(of id: AppID, _ status: ExitStatus) {
        guard let watch = trees[id]?.watch, watch.cause == nil else { return }
        let own: EndCause = status == .code(0) ? .itself : .system
        trees[id]?.watch.cause = watch.endWanted == nil ? own : .unclear
    }

    /// An app that is not connected any more must not answer, and holds no assertion.
    mutating func endConversation(of id: AppID) {
        trees[id]?.watch.outstanding = nil
        trees[id]?.watch.resignations = []
        trees[id]?.watch.task = nil
        trees[id]?.watch.believesActive = false
        trees[id]?.watch.scenes = [:]
        trees[id]?.watch.granted = [:]
    }

    // MARK: What an input leads to

    /// What has happened counts even if the daemon was killed before it could do anything about it.
    mutating func watch(_ announcement: Announcement) {
        switch announcement {
        case .app(let step):
            if step.to == .terminating { watchEnd(of: step.app) }
            watchTransition(step)
            if step.from == .background { trees[step.app]?.watch.expiredAt = nil }
            if step.to == .notRunning {
                trees[step.app] = nil
                endAdoption(of: step.app)
            }
        case .scene(let step):
            let isReclaimed = sessions[step.app]?[step.scene]?.isReclaimed == true
            if step.to == .unattached, !isReclaimed { watchEnd(of: step.app) }
            watchSceneStep(step)
        case .decision(.scenesReclaimed(let id, let scenes), _): noteReclaimed(scenes, of: id)
        case .decision(.answerOverdue(let id, let callback), _): noteOverdue(callback, id)
        case .decision(.launchFailed(let id, _), _):
            ends[id] = .unclear
            endsWanted[id] = nil
            forgetNewScenes(of: id)
            trees[id] = nil
            endAdoption(of: id)
        case .decision(.eventEnded(let id, let event, let outcome), _):
            if let key = event.key { handovers[key]?.isOver = true }
            if case .performTask = event, outcome == .lost { trees[id]?.watch.task = nil }
        case .decision: break
        }
    }

    /// Looks at an app that is ended for its memory as it is just before that: at its first step, or else when it is measured.
    private mutating func watchEnd(of id: AppID) {
        guard let position = victims.firstIndex(where: { core.id(of: $0) == id }) else { return }
        victims.remove(at: position)
        watchVictim(id)
    }

    mutating func watch(_ message: Ready.Message) {
        switch message {
        case .deliver(let app, let delivery): watchDelivery(delivery, to: core.id(of: app))
        case .answerAssertion(let app, let number, nil): watchGrant(number, to: core.id(of: app))
        case .answerAssertion: break
        case .expireTask(let app, _, _): noteExpiration(of: core.id(of: app))
        case .tellTimeLeft(let app, let end): watchTimeLeft(until: end, core.id(of: app))
        }
    }

    mutating func watch(_ operation: Ready.Operation) {
        switch operation {
        case .spawn(let app):
            if isShuttingDown { report("\(core.id(of: app)) is started while the daemon stops") }
        case .stop(let app): if !isTakingOver { watchStop(core.id(of: app)) }
        case .terminate(let app): watchTerminate(core.id(of: app))
        case .kill(let app): watchKill(core.id(of: app))
        case .measureMemory(let app): watchEnd(of: core.id(of: app))
        case .resume, .markMemory, .readMemory: break
        }
    }

    /// The time for tasks runs in the background alone, and is never more than the whole of it.
    private mutating func watchTimeLeft(until end: Instant?, _ id: AppID) {
        guard let end else { return }
        if states[id] != .background { report("\(id) is told of a time that does not run") }
        if end > now + timeouts(of: id).task { report("\(id) is told of more time than there is") }
    }

    /// The next daemon believes that the app was told, and waits no longer than that.
    mutating func missed(_ message: Ready.Message) {
        switch message {
        case .deliver(let app, let delivery):
            toldAnew.insert(core.id(of: app))
            noteResignation(delivery, core.id(of: app))
        case .answerAssertion(let app, let number, nil): noteGrant(number, to: core.id(of: app))
        case .expireTask(let app, _, _): noteExpiration(of: core.id(of: app))
        case .answerAssertion, .tellTimeLeft: break
        }
    }

    mutating func missed(_ operation: Ready.Operation) {
        switch operation {
        // It counts as asked from then on.
        case .terminate(let app): noteAsked(core.id(of: app))
        case .measureMemory(let app): watchEnd(of: core.id(of: app))
        case .spawn, .stop, .resume, .kill, .markMemory, .readMemory: break
        }
    }

    mutating func watchForgotten(_ id: AppID) {
        if trees[id]?.isGone == false { report("\(id) is forgotten while it runs") }
        policies[id] = nil
        described[id] = nil
        for use in Use.allCases { used[use]?.remove(id) }
        ends[id] = .unclear
        sessions[id] = nil
    }

    mutating func watchFinished() {
        if !isShuttingDown { report("finished without being told to stop") }
        if hasFinished { report("finished twice") }
        if !trees.isEmpty { report("finished, and \(trees.keys.sorted()) run") }
        hasFinished = true
    }

    /// No app stays stopped that begins something before its stop is seen, unless it was suspended by request.
    private mutating func watchGrant(_ number: UInt64, to id: AppID) {
        noteGrant(number, to: id)
        guard let watch = trees[id]?.watch, !watch.isToStopAtOnce, !watch.isToSleepAtOnce else { return }
        if core.knownApps[id]?.isStoppedOrStopping == true { report("\(id) is granted \(number), and stays stopped") }
    }

    /// SIGTERM counts from when it was recorded, even if only the next daemon has sent it.
    mutating func noteAsked(_ id: AppID) {
        if trees[id]?.watch.asked == nil { trees[id]?.watch.asked = now }
    }

    /// What an app has ended meanwhile holds it until the daemon hears of that.
    private mutating func noteGrant(_ number: UInt64, to id: AppID) {
        let isActivity = trees[id]?.heldAssertions[number] ?? false
        trees[id]?.watch.granted[number] = isActivity
    }

    /// Its tasks have the time from when it is told first; being told again gives it no more.
    private mutating func noteExpiration(of id: AppID) {
        if trees[id]?.watch.expiredAt == nil { trees[id]?.watch.expiredAt = now }
    }

    private mutating func noteOverdue(_ callback: Callback, _ id: AppID) {
        trees[id]?.watch.automaton.wasLate = true
        if callback == .performTask {
            trees[id]?.watch.task = nil
        } else if let delivery = trees[id]?.watch.outstanding, delivery.callback == callback {
            // An app that does not answer didEnterBackground has no more time, and is not forgiven. Before that is over, it is only one
            // that had to make room and was not waited for.
            let isAboutLeaving = callback == .didEnterBackground || callback == .sceneDidEnterBackground
            if isAboutLeaving, delivery.deadline <= now {
                trees[id]?.watch.hasMissedBackground = true
            } else if isAboutLeaving {
                trees[id]?.watch.excused = delivery.sequence
            } else {
                trees[id]?.watch.outstanding = nil
            }
            noteLeavingPlace(delivery, id)
        } else if let delivery = trees[id]?.watch.resignations.first(where: {
            $0.callback == callback && $0.deadline <= now
        }) {
            trees[id]?.watch.resignations.removeAll { $0.sequence == delivery.sequence }
            noteLeavingPlace(delivery, id)
        }
    }

    /// Until when an app that is to resign, or a scene of it, is waited for. The daemon does not wait for one that was silent and is told
    /// late.
    mutating func noteResignation(_ delivery: Delivery, _ id: AppID) {
        let now = now
        let isOpen = { (by: Instant?) in by.map { $0 > now } ?? true }
        switch delivery.callback {
        case .willResignActive where isOpen(trees[id]?.watch.resignsBy):
            trees[id]?.watch.resignsBy = delivery.deadline
        case .sceneWillResignActive:
            guard let scene = delivery.scene?.scene, isOpen(trees[id]?.watch.scenes[scene]?.resignsBy) else { return }
            trees[id]?.watch.scenes[scene]?.resignsBy = delivery.deadline
        default: break
        }
    }

    /// The scene is not active any more, as far as its app goes.
    private mutating func forgetScene(of delivery: Delivery, _ id: AppID) {
        if let scene = delivery.scene?.scene { trees[id]?.watch.scenes[scene] = nil }
    }

    // MARK: After an input

    /// Since when an app is not to be active any more.
    mutating func noteTargets(_ changed: [AppID]) {
        for id in changed where trees[id] != nil {
            if core.knownApps[id]?.target == .active {
                trees[id]?.watch.unwantedSince = nil
            } else if trees[id]?.watch.unwantedSince == nil {
                trees[id]?.watch.unwantedSince = now
            }
        }
    }

    mutating func noteAfter(_ input: Input, _ changed: [AppID]) {
        checkDeadlines(changed)
        for id in changed {
            guard let app = core.knownApps[id] else { continue }
            if app.state != states[id] ?? .notRunning { report("\(id) is \(app.state), without a report") }
            if !app.isConnected, trees[id]?.hasSaidHello == true { endConversation(of: id) }
            if app.channel == .connected { trees[id]?.watch.wasLinkedInBackground = true }
            checkResignation(of: app)
            guard !isTakingOver, let tree = trees[id], tree.isStopped, tree.killed == nil, !tree.isGone else {
                continue
            }
            if !app.isStoppedOrStopping {
                report("\(id) is stopped, and \(app.state) with no way back")
            }
        }
        checkActive()
        checkScenes(changed)
        checkOutlookAndRecords()
        if core.foreground.count > settings.foregroundLimit { report("\(core.foreground) are in the foreground") }
        if let problem = inspect?(core, now) { report(problem) }
        if isShuttingDown { return }
        for id in changed where core.knownApps[id]?.target.isForeground == true && !core.foregroundBlockers.isEmpty {
            report("\(id) is to be in the foreground, and nothing is in sight")
        }
    }

    /// An app that was told that it is active, and that is not to be active any more, is told so at once.
    private mutating func checkResignation(of app: AppMachine) {
        guard !isTakingOver, let watch = trees[app.id]?.watch, app.isConnected, !app.isReconnecting,
            app.state == .active,
            watch.unwantedSince != nil, watch.believesActive, watch.resignsBy == nil
        else { return }
        report("\(app.id) is not to be active, and is not told")
    }

    private mutating func checkActive() {
        let active = states.values.count { $0 == .active }
        let limit = now < lastLimit.until ? max(lastLimit.limit, settings.foregroundLimit) : settings.foregroundLimit
        if active > limit { report("\(active) apps are active, and \(limit) may be") }
    }

    /// What must hold at any time, and costs something to look at.
    mutating func checkAll() {
        guard !isDead else { return }
        for (id, tree) in trees {
            if tree.asked != nil, let asked = tree.watch.asked, tree.killed == nil, !tree.isGone,
                max(asked + timeouts(of: id).termination, tookOver + .milliseconds(250)) < now
            {
                report("\(id) has ignored SIGTERM for \(now.duration(since: asked)), and is not killed")
            }
            guard let delivery = tree.watch.outstanding, !tree.isGone, tree.watch.excused != delivery.sequence,
                [.didEnterBackground, .sceneDidEnterBackground].contains(delivery.callback)
            else { continue }
            // Each daemon gives it anew the time to reconnect.
            let mayReconnect = tree.watch.wasAway || setup.deaths != .none
            let end = mayReconnect ? max(delivery.deadline, tookOver) + .seconds(36) : delivery.deadline
            if end < now, tree.killed == nil, tree.asked == nil {
                report("\(id) has not answered \(delivery.callback.rawValue), and is not killed")
            }
        }
    }
}

/// The cause of an app's end.
package enum EndCause: Sendable {
    case user, system, itself, unclear
}

/// An event that was handed to an app, and its outcome.
struct Handover: Sendable {
    let request: UInt64
    var told: Set<UInt64> = []
    var answer: AppAnswer?
    var isDeclined = false
    /// A Boolean value that indicates whether its program was started with it.
    var isArgument = false
    var isOver = false
}

extension Watch {
    var hasTasks: Bool { granted.values.contains(false) }
}

extension AppEvent {
    /// What tells it from every other one, where chance has made it.
    var key: String? {
        switch self {
        case .openURL(let url, _, _): url
        case .continueActivity(let type, _): type
        case .performTask(_, let payload): payload.isEmpty ? nil : payload
        default: nil
        }
    }
}
