import OrderedCollections

/// Telling apps, and what their answers and their silence lead to.
extension Lifecycle {
    /// Tells the app, and waits for the answer; `arrival` is what follows it.
    mutating func deliver(_ notice: Notice, to id: AppID, then arrival: Arrival?, event: QueuedEvent? = nil) {
        guard let app = apps[id] else { return }
        let callback = notice.callback
        var delivery = app.delivery(
            of: notice, sequence: app.lastSequence + 1, deadline: answerDeadline(of: callback, for: app),
            state: stateToTell(callback, to: app))
        delivery.event = event
        apps[id]?.lastSequence = delivery.sequence
        apps[id]?.awaiting = .answer(delivery, sent: now, to: arrival)
        // One that is told late, from `owed`, has missed its second.
        if callback == .willEnterForeground, arrival != nil { apps[id]?.placesPromised = settings.frontLimit }
        // Giving up a place has a deadline of its own.
        if callback != .willResignActive || app.state != .active { deadlines.set(.answer, id, at: delivery.deadline) }
        effects.append(.deliver(id, delivery))
        // Whoever waits for a place may be told to come as soon as this one was told to go.
        if notice.isResignation { unsettleWaitingForPlace() }
    }

    /// While an app launches, it is inactive, or in the background where it was launched there; how far the others have
    /// come with it meanwhile is told next.
    private func stateToTell(_ callback: Callback, to app: App) -> AppState {
        switch callback {
        case .willFinishLaunching: .inactive
        case .didFinishLaunching: app.hasBeenInFront ? .inactive : .background
        case .didBecomeActive, .didEnterBackground, .willEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            app.state
        // One that is told late is no longer active, and does not know that yet.
        case .willResignActive: .active
        // One that is yet to be told that it is active is not, as far as it knows.
        default: app.owed.isEmpty || !app.state.isForeground ? app.state : .inactive
        }
    }

    private func answerDeadline(of callback: Callback, for app: App) -> Instant {
        let timeouts = app.policy.timeouts
        switch callback {
        case .willResignActive, .sceneWillResignActive:
            return deadlines.instant(.resignation, app.id) ?? now + timeouts.willResignActive
        case .didEnterBackground, .sceneDidEnterBackground: return now + timeouts.didEnterBackground
        case .sceneDidDisconnect: return deadlines.instant(.parting, app.id) ?? now + timeouts.callback
        case .willFinishLaunching, .didFinishLaunching: return now + timeouts.launch
        default: return now + timeouts.callback
        }
    }

    mutating func take(_ message: AppMessage, from id: AppID) {
        // Who says hello runs, even if that has not been confirmed yet.
        if message == .hello, case .spawn(let state) = apps[id]?.awaiting { spawned(id, to: state) }
        guard let app = apps[id], app.state.isAlive else { return }
        switch message {
        case .hello: if !app.isLinked, app.policy.callbacks != .none { link(id) }
        case .done(let sequence, let answer): take(answer, to: sequence, from: id)
        case .beginTask(let number, let name): if app.isLinked { begin(.task, number, name, of: id) }
        case .beginActivity(let number, let mode): if app.isLinked { begin(.activity, number, mode, of: id) }
        case .endHold(let number): endHold(number, of: id)
        case .openScene(let scene, let role, let info): openScene(scene, role: role, info: info, by: id)
        case .closeScene(let scene): closeScene(scene, by: id)
        case .sceneInfo(let scene, let info): keep(info, for: scene, of: id)
        case .timeLeft: tellTimeLeft(to: id)
        case .closed: if app.isLinked { unlink(id) }
        case .back(let sequence): if app.isAway { welcomeBack(id, lastSequence: sequence) }
        }
        unsettled.append(id)
    }

    /// An app may begin to listen at any time; it catches up from where it is, launch callbacks first.
    private mutating func link(_ id: AppID) {
        guard let app = apps[id] else { return }
        apps[id]?.isLinked = true
        deadlines.clear(.hello, id)
        apps[id]?.owed = [Notice(.willFinishLaunching), Notice(.didFinishLaunching)]
        apps[id]?.owed += app.sceneCatchUp
        switch app.state {
        case _ where app.hasScenes: break
        case .active: apps[id]?.owed.append(Notice(.didBecomeActive))
        case .background, .suspended: if app.hasBeenInFront { apps[id]?.owed.append(Notice(.didEnterBackground)) }
        case .inactive, .notRunning, .terminating: break
        }
        deadlines.clear(.background, id)
    }

    /// An app that no longer listens goes on as one that never did.
    private mutating func unlink(_ id: AppID) {
        apps[id]?.isLinked = false
        apps[id]?.isAway = false
        deadlines.clear(.comeBack, id)
        apps[id]?.owed = []
        apps[id]?.mayHaveHeard = false
        apps[id]?.placesPromised = nil
        dropHolds(of: id)
        dropEvents(of: id, .notListening)
        goOnWithoutAnswer(id)
        forgetClosedScenes(of: id)
    }

    private mutating func take(_ answer: AppAnswer, to sequence: UInt64, from id: AppID) {
        if apps[id]?.task?.sequence == sequence { return answerTask(answer, of: id) }
        // An answer that comes after its deadline finds nothing waiting for it, and is too late by definition.
        guard case .answer(let delivery, let sent, let next) = apps[id]?.awaiting, delivery.sequence == sequence
        else { return }
        let time = now.duration(since: sent)
        effects.append(.decision(.answered(id, delivery.callback, time)))
        noteLaunchAnswer(delivery.callback, answer, of: id)
        if delivery.callback == .didFinishLaunching { finishLaunching(id) }
        if let event = delivery.event { finish(event, of: id, event.event.outcome(of: answer)) }
        goOn(id, to: next, answerTime: time)
    }

    private mutating func finishLaunching(_ id: AppID) {
        apps[id]?.hasLaunched = true
        deadlines.clear(.launch, id)
    }

    /// Takes the step that waited for an answer.
    mutating func goOnWithoutAnswer(_ id: AppID) {
        guard case .answer(_, _, let next) = apps[id]?.awaiting else { return }
        giveUpEvent(of: id)
        goOn(id, to: next, answerTime: nil)
    }

    private mutating func goOn(_ id: AppID, to next: Arrival?, answerTime: Duration?) {
        guard let app = apps[id] else { return }
        apps[id]?.awaiting = nil
        deadlines.clear(.answer, id)
        switch next {
        case .app(let next): if let edge = app.edge(to: next) { take(edge, with: id, answerTime: answerTime) }
        case .scene(let next):
            if let scene = app.awaitedNotice?.scene { goOn(scene, of: id, to: next, answerTime: answerTime) }
        case nil: break
        }
        forgetClosedScenes(of: id)
        answerWaiters(of: id)
    }

    /// The app is silent; what that means depends on what it was told.
    mutating func answerOverdue(_ id: AppID) {
        guard let callback = apps[id]?.awaitedCallback else { return }
        effects.append(.decision(.answerOverdue(id, callback)))
        // Nobody can tell whether it would have answered, if there had been anybody to answer to.
        if apps[id]?.isAway == true { return unlink(id) }
        if callback == .didBecomeActive || callback == .sceneDidBecomeActive {
            refuseWaiters(of: id, with: .unanswered(id, callback)) { $0.goal == .answered }
        }
        switch callback {
        case .didEnterBackground, .sceneDidEnterBackground: end(id, atOnce: true, reason: .backgroundTimeout)
        case .willFinishLaunching, .didFinishLaunching:
            if apps[id]?.isReady == false { return launchOverdue(id) }
            goOnWithoutAnswer(id)
        default: goOnWithoutAnswer(id)
        }
    }

    /// An app that has to answer the launch callbacks has not.
    mutating func launchOverdue(_ id: AppID) {
        guard apps[id]?.isReady == false else { return }
        end(id, atOnce: true, reason: .launchTimeout)
    }

    // MARK: Channels that were lost

    /// How long an app that runs may take to come back: longer than its library waits between two attempts.
    static let returnTime = Duration.seconds(35)

    /// An app that is stopped cannot come back before it is continued.
    mutating func awaitReturn(of id: AppID) {
        guard let app = apps[id], app.isAway, app.state.isAlive, app.state != .suspended else { return }
        let end = now + Self.returnTime
        deadlines.set(.comeBack, id, at: end)
        for kind in [DeadlineKind.answer, .launch, .performTask, .taskExpiration] {
            if let due = deadlines.instant(kind, id), due < end { deadlines.set(kind, id, at: end) }
        }
    }

    private mutating func welcomeBack(_ id: AppID, lastSequence: UInt64) {
        apps[id]?.isAway = false
        deadlines.clear(.comeBack, id)
        if deadlines.instant(.taskExpiration, id) != nil { expireTasks(id) }
        // A task began before whatever else is awaited.
        if let task = apps[id]?.task, task.sequence > lastSequence { effects.append(.deliver(id, task)) }
        awaitAnswerAgain(of: id, lastSequence: lastSequence)
        forgetWhatWasHeard(by: id, lastSequence: lastSequence)
        // It would believe that it is active while another one is.
        apps[id]?.owed.removeLostPlaces()
    }

    private mutating func forgetWhatWasHeard(by id: AppID, lastSequence: UInt64) {
        guard let app = apps[id], app.mayHaveHeard else { return }
        apps[id]?.mayHaveHeard = false
        if app.lastSequence <= lastSequence { apps[id]?.owed.removeFirst() }
    }

    /// What the app has heard is due when it was; what it has not is told now, with all the time that it takes.
    private mutating func awaitAnswerAgain(of id: AppID, lastSequence: UInt64) {
        guard let app = apps[id], case .answer(var delivery, _, let next) = app.awaiting else { return }
        if delivery.sequence > lastSequence {
            delivery.deadline = answerDeadline(of: delivery.callback, for: app)
            // Whoever was to end then may be wanted again, and loses a scene for another reason.
            if let news = delivery.scene, let reason = app.reasonToTell(delivery.callback, of: news.scene) {
                delivery.scene = SceneNews(scene: news.scene, reason: reason)
            }
            apps[id]?.awaiting = .answer(delivery, sent: now, to: next)
            effects.append(.deliver(id, delivery))
        }
        guard deadlines.instant(.resignation, id) == nil || delivery.callback != .willResignActive else { return }
        // A record may say anything; nobody has longer than one who is told now.
        let due = min(delivery.deadline, answerDeadline(of: delivery.callback, for: app))
        deadlines.set(.answer, id, at: max(due, now + Self.readingTime))
    }

    /// Takes the step that waited for an answer. An app that is away is told when it is back, unless it turns out that
    /// it has heard it.
    mutating func goOnUnheard(_ id: AppID) {
        if let app = apps[id], app.isAway, let notice = app.awaitedNotice, !app.awaitsEvent {
            apps[id]?.owed.insert(notice, at: 0)
            apps[id]?.mayHaveHeard = true
        }
        goOnWithoutAnswer(id)
    }

    /// The app stayed away.
    mutating func returnOverdue(_ id: AppID) {
        if apps[id]?.isAway == true { unlink(id) }
    }
}
