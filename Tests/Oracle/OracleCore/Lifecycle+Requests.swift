import OrderedCollections

/// What people and programs ask for, and their answers: one for each, when it is so or when it will not be.
extension Lifecycle {
    mutating func begin(_ wanted: Request, for request: RequestID) {
        if isShuttingDown, !wanted.isAllowedWhileShuttingDown { return refuse(request, .shuttingDown) }
        switch wanted {
        case .launch(let id, let background): launch(id, background: background, for: request)
        case .focus(let id): focus(id, for: request)
        case .untilAnswered(.launch(let id, background: false)):
            launch(id, background: false, goal: .answered, for: request)
        case .untilAnswered(.focus(let id)): focus(id, goal: .answered, for: request)
        case .untilAnswered(let wanted): begin(wanted, for: request)
        case .home: goHome(for: request)
        case .beginInterruption(let name): beginInterruption(name, for: request)
        case .endInterruption(let name, let answer): endInterruption(name, answer: answer, for: request)
        case .suspend(let id, let atOnce): suspend(id, atOnce: atOnce, for: request)
        case .resume(let id): resume(id, for: request)
        case .machine(let event): take(event, for: request)
        case .hand(let id, let event): hand(event, to: id, for: request)
        case .wake(let id, let kind, let payload): wake(id, kind: kind, payload: payload, for: request)
        case .openScene(let id, let opening, let background):
            openScene(opening, of: id, background: background, for: request)
        case .focusScene(let id, let scene): focusScene(scene, of: id, for: request)
        case .backgroundScene(let id, let scene): sendBack(scene, of: id, for: request)
        case .closeScene(let id, let scene): closeScene(scene, of: id, for: request)
        case .terminate(let id): endOnRequest(id, atOnce: false, reason: .terminate, for: request)
        case .kill(let id): endOnRequest(id, atOnce: true, reason: .kill, for: request)
        case .disown(let id): disown(id, for: request)
        case .memoryPressure(let level, let all): simulate(level, all: all, for: request)
        }
    }

    private mutating func launch(_ id: AppID, background: Bool, goal: Goal = .active, for request: RequestID) {
        guard let app = apps[id] else { return refuse(request, .noSuchApp(id)) }
        let reason: Reason = app.policy.isAdopted && !app.isRunning ? .adopt : .launch
        if !background {
            cancelRestart(of: id)
            bringToFront(id, reason: reason)
        } else if app.wish != .run {
            cancelRestart(of: id)
            want(id, reason: reason)
        }
        wait(request, for: [id], goal: background ? .launched : goal, about: id)
    }

    private mutating func focus(_ id: AppID, goal: Goal = .active, for request: RequestID) {
        if let refusal = refusalUnlessAlive(id) { return refuse(request, refusal) }
        bringToFront(id, reason: .focus)
        wait(request, for: [id], goal: goal, about: id)
    }

    private mutating func goHome(for request: RequestID) {
        forgetReturns()
        let leaving = inSight
        for id in front where id != settings.homeApp {
            apps[id]?.wishReason = .home
            leaveFront(id)
        }
        guard let home = settings.homeApp, apps[home] != nil else {
            return wait(request, for: leaving, goal: .outOfSight)
        }
        cancelRestart(of: home)
        bringToFront(home, reason: .home)
        wait(request, for: [home], goal: .active, about: home)
    }

    private mutating func beginInterruption(_ name: String, for request: RequestID) {
        guard interruptions.contains(name) || interruptions.count < Self.interruptionLimit else {
            return refuse(request, .tooManyInterruptions(limit: Self.interruptionLimit))
        }
        beginInterruption(name)
        wait(request, for: inSight, goal: .notActive)
    }

    /// Ends an interruption. The app that answers it comes to the foreground in the same step, launched if need be, so that the
    /// interrupted app does not become active before it leaves.
    private mutating func endInterruption(_ name: String, answer: AppID?, for request: RequestID) {
        guard let answer else {
            endInterruption(name)
            return wait(request, for: interruptions.isEmpty && concealments.isEmpty ? front : [], goal: .active)
        }
        guard apps[answer] != nil else { return refuse(request, .noSuchApp(answer)) }
        endInterruption(name)
        cancelRestart(of: answer)
        bringToFront(answer, reason: .interruptionEnded)
        wait(request, for: [answer], goal: .active, about: answer)
    }

    private mutating func suspend(_ id: AppID, atOnce: Bool, for request: RequestID) {
        if let refusal = refusalUnlessAlive(id) { return refuse(request, refusal) }
        // Why it ends decides whether it is restored, and it does not sleep any more.
        if case .end = apps[id]?.wish { return refuse(request, .terminating(id)) }
        guard apps[id]?.policy.suspend != .never else { return refuse(request, .neverSuspended(id)) }
        guard settings.homeApp != id || front != [id] else { return refuse(request, .homeStaysInFront(id)) }
        if !atOnce, let hold = apps[id]?.holds.first(where: { $0.kind == .activity }) {
            return refuse(request, .held(id, by: hold))
        }
        if !atOnce, let use = apps[id]?.use { return refuse(request, .inUse(id, use)) }
        apps[id]?.keepsAwake = false
        apps[id]?.isSuspendedAtOnce = atOnce
        endWakeTime(of: id)
        apps[id]?.wishReason = .suspend
        deadlines.clear(.background, id)
        leaveFront(id)
        if atOnce { dropWork(of: id) } else { endTaskTime(of: id) }
        wait(request, for: [id], goal: .suspended, about: id)
    }

    private mutating func resume(_ id: AppID, for request: RequestID) {
        if let refusal = refusalUnlessAlive(id) { return refuse(request, refusal) }
        let isInFront = apps[id]?.target.isForeground == true
        want(id, reason: isInFront ? apps[id]?.wishReason ?? .resume : .resume)
        if !isInFront { apps[id]?.keepsAwake = true }
        wait(request, for: [id], goal: .awake, about: id)
    }

    private mutating func endOnRequest(_ id: AppID, atOnce: Bool, reason: Reason, for request: RequestID) {
        guard let app = apps[id] else { return refuse(request, .noSuchApp(id)) }
        let wasComingBack = cancelRestart(of: id)
        guard app.isRunning || wasComingBack else { return refuse(request, .notRunning(id)) }
        if atOnce || app.state != .terminating { end(id, atOnce: atOnce, reason: reason) }
        wait(request, for: [id], goal: .gone, about: id)
    }

    /// An app that was adopted ends here as any other does; what the shell then does to its processes is to let them be.
    private mutating func disown(_ id: AppID, for request: RequestID) {
        if let refusal = refusalUnlessAlive(id) { return refuse(request, refusal) }
        guard apps[id]?.policy.isAdopted == true else { return refuse(request, .notAdopted(id)) }
        endOnRequest(id, atOnce: false, reason: .disown, for: request)
    }

    func refusalUnlessAlive(_ id: AppID) -> Refusal? {
        guard let app = apps[id] else { return .noSuchApp(id) }
        if app.state == .terminating { return .terminating(id) }
        return app.isRunning ? nil : .notRunning(id)
    }

    // MARK: Answers

    mutating func wait(
        _ request: RequestID, for ids: [AppID], goal: Goal, about app: AppID? = nil, scene: SceneID? = nil
    ) {
        if !ids.isEmpty, goal.needsSight, let concealment = concealments.first {
            return refuse(request, .concealed(app, by: concealment))
        }
        guard !ids.isEmpty else { return effects.append(.reply(request, .done(app.flatMap { apps[$0] }))) }
        requests[request] = OpenRequest(
            remaining: ids.count, app: app, scene: scene.flatMap { scene in app.flatMap { apps[$0]?.scenes[scene] } })
        for id in ids {
            apps[id]?.waiters.append(Waiter(request: request, goal: goal))
            unsettled.append(id)
        }
    }

    mutating func refuse(_ request: RequestID, _ refusal: Refusal) {
        effects.append(.reply(request, .refused(refusal)))
    }

    /// Answers those whose app has got where they want it, and those whose app is no longer on its way there.
    mutating func answerWaiters(of id: AppID, lost given: Refusal? = nil) {
        guard let app = apps[id], !app.waiters.isEmpty else { return }
        let isSettled = given != nil || !unsettled.contains(id)
        let left = app.waiters.filter { waiter in
            !isMet(waiter.goal, by: app) && (!isSettled || waiter.goal.isWithinReach(of: app))
        }
        if left.count < app.waiters.count { apps[id]?.waiters = left }
        for waiter in app.waiters {
            if isMet(waiter.goal, by: app) {
                fulfil(waiter.request)
            } else if isSettled, !waiter.goal.isWithinReach(of: app) {
                close(waiter.request, with: given ?? lossRefusal(for: app))
            }
        }
    }

    /// An app that was launched just now may still be about to listen, and has answered nothing before.
    private func isMet(_ goal: Goal, by app: App) -> Bool {
        goal.isMet(by: app) && (goal != .answered || deadlines.instant(.hello, app.id) == nil)
    }

    mutating func refuseWaiters(of id: AppID, with refusal: Refusal, where matches: (Waiter) -> Bool) {
        let refused = apps[id]?.waiters.filter(matches) ?? []
        apps[id]?.waiters.removeAll(where: matches)
        for waiter in refused { close(waiter.request, with: refusal) }
    }

    func lossRefusal(for app: App) -> Refusal {
        if app.state == .notRunning, !app.isRunning, let exit = app.lastExit { return .ended(app.id, exit) }
        if let ending = app.ending, ending.reason.callsForRestoration {
            // Nobody wished it elsewhere: it failed, and is on its way out.
            let exit = ExitRecord(state: ending.state, reason: ending.reason, status: ending.status, instant: now)
            return .ended(app.id, exit)
        }
        let isInterrupted = app.ending == nil && app.target == .inactive
        return .superseded(app.id, by: isInterrupted ? .interruption : app.ending?.reason ?? app.wishReason)
    }

    private mutating func fulfil(_ request: RequestID) {
        guard var open = requests[request] else { return }
        open.remaining -= 1
        requests[request] = open.remaining > 0 ? open : nil
        guard open.remaining == 0 else { return }
        let app = open.app.flatMap { apps[$0] }
        guard var scene = open.scene, let app else { return effects.append(.reply(request, .done(app))) }
        scene.state = .unattached
        effects.append(.reply(request, .scene(app.scenes[scene.id] ?? scene, app)))
    }

    private mutating func close(_ request: RequestID, with refusal: Refusal) {
        guard requests.removeValue(forKey: request) != nil else { return }
        refuse(request, refusal)
    }
}

extension Request {
    /// Ending what runs is what a shutdown is about; anything else would work against it.
    var isAllowedWhileShuttingDown: Bool {
        switch self {
        case .terminate, .kill, .machine: true
        default: false
        }
    }
}
