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
        // Its place has a whole second from now on.
        if notice.isResignation, deadlines.instant(.resignation, id) != nil {
            deadlines.set(.resignation, id, at: delivery.deadline)
        }
        if app.awaiting != nil {
            apps[id]?.resignations.append(Resignation(delivery: delivery, sent: now, arrival: arrival))
            effects.append(.deliver(id, delivery))
            return unsettleWaitingForPlace()
        }
        apps[id]?.awaiting = .answer(delivery, sent: now, to: arrival)
        // Giving up a place has a deadline of its own.
        if callback != .willResignActive || app.state != .active { deadlines.set(.answer, id, at: delivery.deadline) }
        effects.append(.deliver(id, delivery))
        // Whoever waits for a place may be told to come as soon as this one was told to go.
        if notice.isResignation { unsettleWaitingForPlace() }
    }

    /// Sends the app, or one of its active scenes, its resignation at once, behind a callback that it has not answered yet.
    ///
    /// - Returns: Whether a step was taken.
    mutating func sendResignation(to id: AppID) -> Bool {
        guard let app = apps[id], let notice = app.dueResignation else { return false }
        // What has never heard that it is active need not hear that it no longer is.
        if app.owed.contains(where: { $0.isActivation && $0.scene == notice.scene }) {
            apps[id]?.owed.removeAll { $0.isActivation && $0.scene == notice.scene }
            if let scene = notice.scene {
                arrive(scene, of: id, at: .foregroundInactive)
            } else {
                arrive(id, at: .inactive)
            }
            return true
        }
        guard case .answer = app.awaiting else { return false }
        deliver(notice, to: id, then: notice.scene == nil ? .app(.inactive) : .scene(.foregroundInactive))
        return true
    }

    /// Waits for the answer to the next resignation, when what it was sent behind is over. The app deals with one after the
    /// other, and has a whole second for it.
    private mutating func awaitNextResignation(of id: AppID) {
        guard let app = apps[id], app.awaiting == nil, let next = app.resignations.first else { return }
        apps[id]?.resignations.removeFirst()
        apps[id]?.awaiting = .answer(next.delivery, sent: next.sent, to: next.arrival)
        deadlines.set(.answer, id, at: max(next.delivery.deadline, now + app.policy.timeouts.willResignActive))
    }

    /// The app, or a scene of it, has left its place without the answer to its resignation, which is still waited for.
    mutating func keepResignation(of id: AppID, scene: SceneID?) {
        if case .answer(let delivery, let sent, _) = apps[id]?.awaiting, delivery.notice.isResignation,
            delivery.scene?.scene == scene
        {
            apps[id]?.awaiting = .answer(delivery, sent: sent, to: nil)
        }
        guard let index = apps[id]?.resignations.firstIndex(where: { $0.delivery.scene?.scene == scene }),
            let callback = apps[id]?.resignations[index].delivery.callback
        else { return }
        apps[id]?.resignations[index].arrival = nil
        effects.append(.decision(.answerOverdue(id, callback)))
    }

    /// While an app launches, it is inactive, or in the background where it was launched there; how far the others have
    /// come with it meanwhile is told next.
    private func stateToTell(_ callback: Callback, to app: App) -> AppState {
        switch callback {
        case .willFinishLaunching: .inactive
        case .didFinishLaunching: app.hasBeenInFront ? .inactive : .background
        case .didBecomeActive, .didEnterBackground, .willEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect, .willResignActive:
            app.state
        // One that is yet to be told that it is active is not, as far as it knows.
        default: app.owed.isEmpty || !app.state.isForeground ? app.state : .inactive
        }
    }

    func answerDeadline(of callback: Callback, for app: App) -> Instant {
        let timeouts = app.policy.timeouts
        switch callback {
        case .willResignActive, .sceneWillResignActive: return now + timeouts.willResignActive
        case .didEnterBackground, .sceneDidEnterBackground: return now + timeouts.didEnterBackground
        case .sceneDidDisconnect: return deadlines.instant(.parting, app.id) ?? now + timeouts.callback
        case .willFinishLaunching, .didFinishLaunching:
            let limit = now + timeouts.launch
            return min(limit, deadlines.instant(.launch, app.id) ?? limit)
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
        case .closed: if app.isLinked { channelEnded(id) }
        case .back(let sequence): if app.isAway { welcomeBack(id, lastSequence: sequence) }
        }
        unsettled.append(id)
    }

    private mutating func take(_ answer: AppAnswer, to sequence: UInt64, from id: AppID) {
        if apps[id]?.task?.sequence == sequence { return answerTask(answer, of: id) }
        // An answer that comes after its deadline finds nothing waiting for it, and is too late by definition.
        guard case .answer(let delivery, let sent, let next) = apps[id]?.awaiting, delivery.sequence == sequence
        else { return takeEarly(answerTo: sequence, from: id) }
        let time = now.duration(since: sent)
        effects.append(.decision(.answered(id, delivery.callback, time)))
        noteLaunchAnswer(delivery.callback, answer, of: id)
        if delivery.callback == .didFinishLaunching { finishLaunching(id) }
        if let event = delivery.event { finish(event, of: id, event.event.outcome(of: answer)) }
        goOn(id, to: next, answerTime: time)
    }

    /// The app has answered a resignation before the callback that it was sent behind, which is still waited for.
    private mutating func takeEarly(answerTo sequence: UInt64, from id: AppID) {
        guard let app = apps[id], let index = app.resignations.firstIndex(where: { $0.delivery.sequence == sequence })
        else { return }
        let resignation = app.resignations[index]
        apps[id]?.resignations.remove(at: index)
        let time = now.duration(since: resignation.sent)
        effects.append(.decision(.answered(id, resignation.delivery.callback, time)))
        complete(resignation.arrival, scene: resignation.delivery.scene?.scene, of: app, answerTime: time)
        answerWaiters(of: id)
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

    mutating func goOn(_ id: AppID, to next: Arrival?, answerTime: Duration?) {
        guard let app = apps[id] else { return }
        apps[id]?.awaiting = nil
        deadlines.clear(.answer, id)
        complete(next, scene: app.awaitedNotice?.scene, of: app, answerTime: answerTime)
        awaitNextResignation(of: id)
        forgetClosedScenes(of: id)
        answerWaiters(of: id)
    }

    /// Takes the step that an answer leads to.
    mutating func complete(_ next: Arrival?, scene: SceneID?, of app: App, answerTime: Duration?) {
        switch next {
        case .app(let next): if let edge = app.edge(to: next) { take(edge, with: app.id, answerTime: answerTime) }
        case .scene(let next): if let scene { goOn(scene, of: app.id, to: next, answerTime: answerTime) }
        case nil: break
        }
    }

    /// The app is silent; what that means depends on what it was told.
    mutating func answerOverdue(_ id: AppID) {
        guard let app = apps[id], case .answer(let delivery, _, let next) = app.awaiting else { return }
        let callback = delivery.callback
        // That a resignation is overdue was told when its place was lost.
        let wasTold = delivery.notice.isResignation && next == nil && delivery.deadline < now
        if !wasTold { effects.append(.decision(.answerOverdue(id, callback))) }
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
}
