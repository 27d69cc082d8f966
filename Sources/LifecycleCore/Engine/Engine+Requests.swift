import OrderedCollections

// The requests of clients. Each is answered once: when its goal is reached, or when it cannot be reached any more.

extension Engine {
    mutating func begin(_ wanted: Request, for request: RequestID) {
        if isShuttingDown, !wanted.isAllowedWhileShuttingDown { return refuse(request, .shuttingDown) }
        switch wanted {
        case .launch(let id, let background, let untilAnswered):
            launch(id, background: background, goal: untilAnswered ? .answered : .active, for: request)
        case .focus(let id, let untilAnswered): focus(id, goal: untilAnswered ? .answered : .active, for: request)
        case .background(let id): sendToBackground(id, for: request)
        case .home: goHome(for: request)
        case .beginInterruption(let name): beginInterruption(name, for: request)
        case .endInterruption(let name, let answer): endInterruption(name, answer: answer, for: request)
        case .suspend(let id, let now): suspend(id, now: now, for: request)
        case .resume(let id): resume(id, for: request)
        case .machine(let event): apply(event, for: request)
        case .deliver(let id, let event):
            if let app = knownApp(id, for: request) { deliver(event, to: app, for: request) }
        case .wake(let id, let kind, let payload): wake(id, kind: kind, payload: payload, for: request)
        case .openScene(let id, let opening, let background):
            openScene(opening, of: id, background: background, for: request)
        case .focusScene(let id, let scene): focusScene(scene, of: id, for: request)
        case .backgroundScene(let id, let scene): backgroundScene(scene, of: id, for: request)
        case .closeScene(let id, let scene): closeScene(scene, of: id, for: request)
        case .restart(let id): restart(id, for: request)
        case .terminate(let id):
            if let app = knownApp(id, for: request) { end(app, atOnce: false, reason: .terminate, for: request) }
        case .kill(let id):
            if let app = knownApp(id, for: request) { end(app, atOnce: true, reason: .kill, for: request) }
        case .release(let id): release(id, for: request)
        case .memoryPressure(let level, let all): simulate(level, all: all, for: request)
        }
    }

    // MARK: The foreground

    private mutating func launch(_ id: AppID, background: Bool, goal: Goal, for request: RequestID) {
        guard let app = knownApp(id, for: request) else { return }
        let isAdopting = knownApps[app].policy.isAdopted && !knownApps[app].isRunning
        if !background {
            bringToForeground(app, reason: isAdopting ? .adopt : .launch)
        } else if knownApps[app].desired != .run {
            cancelRestart(of: app)
            want(app, reason: isAdopting ? .adopt : .launch)
        }
        wait(request, for: app, goal: background ? .launched : goal)
    }

    /// Restarts the app in its place, the foreground or the background. An app that ends already is launched again then, and an app
    /// that does not run is launched.
    private mutating func restart(_ id: AppID, for request: RequestID) {
        guard let app = knownApp(id, for: request) else { return }
        let machine = knownApps[app]
        let background = machine.isRunning && !shared.foreground.contains(app)
        guard machine.isRunning, machine.state != .terminating, machine.phase.termination == nil else {
            return launch(id, background: background, goal: .active, for: request)
        }
        abandonReclaim(of: app)
        if !background { shared.returning.removeAll() }
        change(app) { $0.restart(&$1) }
        wait(request, for: app, goal: background ? .launched : .active)
    }

    private mutating func focus(_ id: AppID, goal: Goal, for request: RequestID) {
        guard let app = aliveApp(id, for: request) else { return }
        bringToForeground(app, reason: .focus)
        wait(request, for: app, goal: goal)
    }

    private mutating func sendToBackground(_ id: AppID, for request: RequestID) {
        guard let app = aliveApp(id, for: request) else { return }
        guard app != shared.home || shared.foreground != [app] else {
            return refuse(request, .homeStaysInForeground(id))
        }
        if shared.foreground.contains(app) {
            change(app) { $0.leaveForeground(reason: .sentBack, &$1) }
        }
        wait(request, for: app, goal: .outOfForeground)
    }

    private mutating func goHome(for request: RequestID) {
        shared.returning.removeAll()
        let leaving = appsInForeground
        let home = shared.home
        for app in shared.foreground where app != home {
            change(app) { $0.leaveForeground(reason: .home, &$1) }
        }
        guard let home else { return wait(request, for: leaving, goal: .outOfForeground) }
        bringToForeground(home, reason: .home)
        wait(request, for: home, goal: .active)
    }

    // MARK: The background

    private mutating func suspend(_ id: AppID, now isAtOnce: Bool, for request: RequestID) {
        guard let app = aliveApp(id, for: request) else { return }
        let isHome = app == shared.home && shared.foreground == [app]
        if let refusal = knownApps[app].refusalOfSuspension(atOnce: isAtOnce, staysInForeground: isHome) {
            return refuse(request, refusal)
        }
        change(app) { $0.suspend(atOnce: isAtOnce, &$1) }
        wait(request, for: app, goal: .suspended)
    }

    private mutating func resume(_ id: AppID, for request: RequestID) {
        guard let app = aliveApp(id, for: request) else { return }
        let isInForeground = knownApps[app].target.isForeground
        want(app, reason: isInForeground ? knownApps[app].desiredReason : .resume)
        if !isInForeground { knownApps[app].assertions.userOverride = .keepRunning }
        wait(request, for: app, goal: .awake)
    }

    /// Delivers an event, and answers when it has an outcome.
    private mutating func deliver(_ event: AppEvent, to app: AppIndex, for request: RequestID) {
        let policy = knownApps[app].policy
        guard event.hasOutcome, knownApps[app].canBeTold || (policy.takesURLs && event.url != nil) else {
            return shared.ready.answer(request, .ended(.notListening, knownApps[app]))
        }
        guard let number = change(app, { $0.queue(event, &$1) }) else {
            return refuse(request, .tooManyEvents(knownApps.id(of: app), limit: Outbox.eventLimit))
        }
        if event.isForForeground {
            bringToForeground(app, reason: event.url == nil ? .activity : .url)
        } else if knownApps[app].desired != .run {
            want(app, reason: .wake)
        }
        wait(request, for: app, goal: .event(number, inForeground: event.isForForeground))
    }

    private mutating func wake(_ id: AppID, kind: String, payload: String, for request: RequestID) {
        guard let app = knownApp(id, for: request) else { return }
        prepareToWake(app)
        guard knownApps[app].cannotBeTold(now) else {
            return deliver(.performTask(kind: kind, payload: payload), to: app, for: request)
        }
        grantWorkTime(to: app)
        wait(request, for: app, goal: .woken)
    }

    /// Restarts an app that waits for its restart; an app that is woken from suspension runs for this reason.
    private mutating func prepareToWake(_ app: AppIndex) {
        if shared.deadlines[.restart, app] != nil { restart(app) }
        let isInForeground = shared.foreground.contains(app)
        change(app) { machine, _ in
            if machine.desired == .run, machine.state == .suspended, !isInForeground { machine.desiredReason = .wake }
        }
    }

    private mutating func grantWorkTime(to app: AppIndex) {
        if knownApps[app].desired != .run { want(app, reason: .wake) }
        change(app) { $0.grantWorkTime(&$1) }
    }

    // MARK: The end

    private mutating func end(_ app: AppIndex, atOnce: Bool, reason: Reason, for request: RequestID) {
        let wasComingBack = cancelRestart(of: app)
        guard knownApps[app].isRunning || wasComingBack else {
            return refuse(request, .notRunning(knownApps.id(of: app)))
        }
        end(app, atOnce: atOnce, reason: reason)
        wait(request, for: app, goal: .gone)
    }

    /// Releases an adopted app. To the core, this is its end; the shell leaves its processes alone.
    private mutating func release(_ id: AppID, for request: RequestID) {
        guard let app = aliveApp(id, for: request) else { return }
        guard knownApps[app].policy.isAdopted else { return refuse(request, .notAdopted(id)) }
        end(app, atOnce: false, reason: .release, for: request)
    }

    // MARK: Scenes

    private mutating func openScene(
        _ opening: SceneOpening, of id: AppID, background: Bool, for request: RequestID
    ) {
        guard let app = knownApp(id, for: request) else { return }
        let machine = knownApps[app]
        guard machine.desired != .restart else { return refuse(request, .terminating(id)) }
        // An app that is ending is launched again for it, by its manifest of that time.
        guard machine.state == .terminating ? machine.policy.scenes : machine.hasScenes else {
            return refuse(request, .noScenes(id))
        }
        guard let scene = knownApps[app].session(opening, background ? .system : .user, now) else {
            return refuse(request, .tooManyScenes(id, limit: Scenes.limit))
        }
        if background {
            cancelRestart(of: app)
            change(app) { $0.connectInBackground(scene, $1) }
            if knownApps[app].desired != .run { want(app, reason: .scene) }
            wait(request, for: app, goal: .scene(scene, .connected), scene: scene)
        } else {
            knownApps[app].show(scene)
            bringToForeground(app, reason: .scene)
            wait(request, for: app, goal: .scene(scene, .active), scene: scene)
        }
    }

    private mutating func focusScene(_ scene: SceneID, of id: AppID, for request: RequestID) {
        guard let app = aliveApp(id, for: request) else { return }
        if let refusal = knownApps[app].refusal(toShow: scene) { return refuse(request, refusal) }
        guard knownApps[app].hasScenes else { return refuse(request, .noScenes(id)) }
        knownApps[app].show(scene)
        bringToForeground(app, reason: .focus)
        wait(request, for: app, goal: .scene(scene, .active), scene: scene)
    }

    private mutating func backgroundScene(_ scene: SceneID, of id: AppID, for request: RequestID) {
        guard let app = aliveApp(id, for: request) else { return }
        if let refusal = knownApps[app].refusal(of: scene) { return refuse(request, refusal) }
        guard app != shared.home || shared.foreground != [app] || knownApps[app].scenes.foreground != [scene]
        else { return refuse(request, .homeStaysInForeground(id)) }
        changeScenes(of: app) { $0.removeFromForeground(scene, reason: .sentBack, &$1) }
        wait(request, for: app, goal: .scene(scene, .outOfForeground), scene: scene)
    }

    private mutating func closeScene(_ scene: SceneID, of id: AppID, for request: RequestID) {
        guard let app = knownApp(id, for: request) else { return }
        if let refusal = knownApps[app].refusal(of: scene) { return refuse(request, refusal) }
        wait(request, for: app, goal: .scene(scene, .closed), scene: scene)
        changeScenes(of: app) { $0.close(scene, &$1) }
    }

    // MARK: Replies

    /// Returns the app if it is known; otherwise refuses the request.
    private mutating func knownApp(_ id: AppID, for request: RequestID) -> AppIndex? {
        let app = knownApps.index(of: id)
        if app == nil { refuse(request, .noSuchApp(id)) }
        return app
    }

    /// Returns the app if it runs and is not ending; otherwise refuses the request.
    private mutating func aliveApp(_ id: AppID, for request: RequestID) -> AppIndex? {
        guard let app = knownApp(id, for: request) else { return nil }
        if knownApps[app].state == .terminating || knownApps[app].desired == .restart {
            refuse(request, .terminating(id))
        } else if !knownApps[app].isRunning {
            refuse(request, .notRunning(id))
        } else {
            return app
        }
        return nil
    }

    /// Answers the request about this app when it has reached the goal.
    mutating func wait(_ request: RequestID, for app: AppIndex, goal: Goal, scene: SceneID? = nil) {
        if goal.needsForeground, let blocker = foregroundBlockers.first {
            return refuse(request, .foregroundBlocked(knownApps[app].id, by: blocker))
        }
        let scene = scene.flatMap { knownApps[app].scenes[$0] }
        addWaiter(Waiter(request: request, goal: goal, scene: scene), to: app)
    }

    /// Answers the request when all these apps have reached the goal.
    mutating func wait(_ request: RequestID, for apps: [AppIndex], goal: Goal) {
        guard !apps.isEmpty else { return shared.ready.answer(request, .done(nil)) }
        shared.requests.begin(request, count: apps.count)
        for app in apps { addWaiter(Waiter(request: request, goal: goal, isShared: true), to: app) }
    }

    /// Answers the request when the foreground apps are active, except for those that cannot become active any more; at once
    /// while something else keeps all of them from that.
    mutating func waitForForeground(_ request: RequestID) {
        let isOpen = interruptions.isEmpty && foregroundBlockers.isEmpty
        wait(request, for: isOpen ? shared.foreground : [], goal: .active)
    }

    private mutating func addWaiter(_ waiter: Waiter, to app: AppIndex) {
        knownApps[app].waiters.append(waiter)
        shared.reconciles.appendOnce(app)
    }

    mutating func refuse(_ request: RequestID, _ refusal: Refusal) {
        shared.ready.answer(request, .refused(refusal))
    }
}
