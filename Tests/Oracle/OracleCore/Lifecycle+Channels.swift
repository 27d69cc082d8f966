/// An app that begins to listen, whose channel ends, and that comes back after a restart of the daemon.
extension Lifecycle {
    /// An app may begin to listen at any time; it catches up from where it is, launch callbacks first. An app that is active by
    /// then becomes inactive for them, as every observer sees, and active again.
    mutating func link(_ id: AppID) {
        if apps[id]?.state == .active { becomeInactiveUntold(id) }
        guard let app = apps[id] else { return }
        apps[id]?.isLinked = true
        deadlines.clear(.hello, id)
        apps[id]?.owed = [Notice(.willFinishLaunching), Notice(.didFinishLaunching)]
        apps[id]?.owed += app.sceneCatchUp
        switch app.state {
        case _ where app.hasScenes: break
        case .background, .suspended: if app.hasBeenInFront { apps[id]?.owed.append(Notice(.didEnterBackground)) }
        case .active, .inactive, .notRunning, .terminating: break
        }
        deadlines.clear(.background, id)
    }

    /// The app has not heard that it, or a scene of it, is active, and need not hear that it no longer is.
    private mutating func becomeInactiveUntold(_ id: AppID) {
        guard let app = apps[id], app.hasScenes else { return arrive(id, at: .inactive) }
        for scene in app.scenes.all where scene.state == .foregroundActive {
            arrive(scene.id, of: id, at: .foregroundInactive)
        }
    }

    /// The time within which the exit of a process is seen after the kernel closed its end of the channel.
    static let exitTime = Duration.seconds(1)

    /// The channel ended, perhaps because the process did. Until the exit is seen or its time has passed, the app keeps its
    /// state, takes no step, and no request is answered: what counts is the exit, if there is one.
    mutating func channelEnded(_ id: AppID) {
        apps[id]?.isAway = true
        deadlines.clear(.comeBack, id)
        deadlines.set(.hangUp, id, at: now + Self.exitTime)
    }

    /// The channel ended and the process did not.
    mutating func hangUpOverdue(_ id: AppID) {
        guard let app = apps[id], app.isLinked else { return }
        unlink(id)
        if apps[id]?.state == .background { startBackgroundTime(of: id) }
    }

    /// An app that stops listening goes on as an app without callbacks.
    mutating func unlink(_ id: AppID) {
        apps[id]?.isLinked = false
        apps[id]?.isAway = false
        deadlines.clear(.comeBack, id)
        deadlines.clear(.hangUp, id)
        apps[id]?.owed = []
        apps[id]?.resignations = []
        apps[id]?.mayHaveHeard = false
        dropHolds(of: id)
        dropEvents(of: id, .notListening)
        goOnWithoutAnswer(id)
        forgetClosedScenes(of: id)
    }

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

    mutating func welcomeBack(_ id: AppID, lastSequence: UInt64) {
        apps[id]?.isAway = false
        deadlines.clear(.comeBack, id)
        deadlines.clear(.hangUp, id)
        if deadlines.instant(.taskExpiration, id) != nil { expireTasksAgain(id) }
        // A task began before whatever else is awaited.
        performTaskAgain(id, lastSequence: lastSequence)
        dropUnheardActivation(of: id, lastSequence: lastSequence)
        awaitAnswerAgain(of: id, lastSequence: lastSequence)
        sendResignationsAgain(to: id, lastSequence: lastSequence)
        forgetWhatWasHeard(by: id, lastSequence: lastSequence)
        // It would believe that it is active while another one is.
        apps[id]?.owed.removeLostPlaces()
    }

    /// What the app has heard of its task is due when it was; what it has not is told now, with all the time that it takes.
    private mutating func performTaskAgain(_ id: AppID, lastSequence: UInt64) {
        guard let app = apps[id], var task = app.task else { return }
        if task.sequence > lastSequence {
            task.deadline = now + app.policy.timeouts.task
            apps[id]?.task = task
            effects.append(.deliver(id, task))
        }
        deadlines.set(.performTask, id, at: max(task.deadline, now + Self.readingTime))
    }

    /// An app that has heard neither that it is active nor that it no longer is hears of neither.
    private mutating func dropUnheardActivation(of id: AppID, lastSequence: UInt64) {
        guard let app = apps[id], case .answer(let delivery, _, nil) = app.awaiting, delivery.notice.isActivation,
            delivery.sequence > lastSequence,
            let index = app.resignations.firstIndex(where: { $0.delivery.scene?.scene == delivery.scene?.scene })
        else { return }
        let resignation = apps[id]?.resignations.remove(at: index)
        goOn(id, to: nil, answerTime: nil)
        complete(resignation?.arrival, scene: delivery.scene?.scene, of: app, answerTime: nil)
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
            // An app that was to end then may be wanted again, and loses a scene for another reason.
            if let news = delivery.scene, let reason = app.reasonToTell(delivery.callback, of: news.scene) {
                delivery.scene = SceneNews(scene: news.scene, reason: reason)
            }
            apps[id]?.awaiting = .answer(delivery, sent: now, to: next)
            effects.append(.deliver(id, delivery))
            // Its place has a whole second from now on.
            if delivery.notice.isResignation, deadlines.instant(.resignation, id) != nil {
                deadlines.set(.resignation, id, at: delivery.deadline)
            }
        }
        guard deadlines.instant(.resignation, id) == nil || delivery.callback != .willResignActive else { return }
        // A record may say anything; no app has longer than an app that is told now.
        let due = min(delivery.deadline, answerDeadline(of: delivery.callback, for: app))
        deadlines.set(.answer, id, at: max(due, now + Self.readingTime))
    }

    private mutating func sendResignationsAgain(to id: AppID, lastSequence: UInt64) {
        guard let app = apps[id] else { return }
        for (index, resignation) in app.resignations.enumerated() where resignation.delivery.sequence > lastSequence {
            var delivery = resignation.delivery
            delivery.deadline = answerDeadline(of: delivery.callback, for: app)
            apps[id]?.resignations[index].delivery = delivery
            apps[id]?.resignations[index].sent = now
            if deadlines.instant(.resignation, id) != nil { deadlines.set(.resignation, id, at: delivery.deadline) }
            effects.append(.deliver(id, delivery))
        }
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
