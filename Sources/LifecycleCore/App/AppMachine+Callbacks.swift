// The callbacks of an app: what it is sent, and what its answers and its silence lead to.

extension AppMachine {
    // MARK: Messages

    /// Handles a message of the app.
    mutating func handle(_ message: AppMessage, _ shared: inout Shared) {
        // An app that says hello runs, even if that has not been confirmed yet.
        if message == .hello { spawned(&shared) }
        guard state.isAlive else { return }
        switch message {
        case .hello:
            // The app begins a new life cycle. The time to continue the former one ends with that.
            if isReconnecting { endLifeCycle(&shared) }
            if !isConnected, policy.callbacks != .none { connect(&shared) }
        case .done(let sequence, let answer): apply(answer, to: sequence, &shared)
        case .beginTask(let number, let name): if isConnected { begin(.task, number, name, &shared) }
        case .beginActivity(let number, let mode): if isConnected { begin(.activity, number, mode, &shared) }
        case .endAssertion(let number): endAssertion(number, &shared)
        case .openScene(let scene, let role, let info): openScene(scene, role: role, info: info, &shared)
        case .closeScene(let scene): closeSceneByApp(scene, &shared)
        case .sceneInfo(let scene, let info): keep(info, for: scene, &shared)
        case .timeLeft: shared.ready.messages.append(.tellTimeLeft(index, until: taskTimeEnd(shared)))
        case .closed: if isConnected { channelEnded(&shared) }
        case .reconnected(let sequence): if isReconnecting { reconnect(lastSequence: sequence, &shared) }
        }
        shared.reconciles.appendOnce(index)
    }

    // MARK: Sending

    /// Sends the callback and awaits the answer; `next` is the state that follows it.
    mutating func send(
        _ callback: PendingCallback, next: NextState?, event: QueuedEvent? = nil, _ shared: inout Shared
    ) {
        guard case .running(let state, let unanswered) = phase else { return }
        let deadline = answerDeadline(of: callback.callback, shared)
        var delivery = delivery(
            of: callback, sequence: outbox.lastSequence + 1, deadline: deadline, state: stateToTell(callback.callback))
        if let event { delivery.subject = .event(event) }
        limitTaskTime(of: &delivery, shared)
        outbox.lastSequence = delivery.sequence
        if callback.isActivation { outbox.overdueActivation = nil }
        extendSlot(for: delivery, &shared)
        let sent = SentCallback(delivery: delivery, sent: shared.now, next: next)
        if unanswered == nil {
            phase = .running(state, sentCallback: sent)
            // The activation slot has a deadline of its own.
            if callback.callback != .willResignActive || state != .active {
                shared.deadlines.set(.answer, index, at: deadline)
            }
        } else {
            outbox.resignations.append(sent)
        }
        shared.ready.messages.append(.deliver(index, delivery))
        // An app that waits for the slot may be told to come as soon as this one was told to go.
        if callback.isResignation { shared.reconcileWaiting() }
    }

    /// Tells an app that hears late of the background the time that is left for its tasks.
    func limitTaskTime(of delivery: inout Delivery, _ shared: borrowing Shared) {
        guard delivery.taskTime != nil, let end = taskTimeEnd(shared) else { return }
        delivery.taskTime = max(.zero, end.duration(since: shared.now))
    }

    /// Gives the activation slot of an app that is told to resign a whole second from now on.
    func extendSlot(for delivery: Delivery, _ shared: inout Shared) {
        guard delivery.pending.isResignation, shared.deadlines[.resignation, index] != nil else { return }
        shared.deadlines.set(.resignation, index, at: delivery.deadline)
    }

    /// Returns the callback as the app is told of it.
    func delivery(
        of callback: PendingCallback, sequence: UInt64, deadline: Instant, state: AppState
    ) -> Delivery {
        var delivery = Delivery(sequence: sequence, pending: callback, state: state, deadline: deadline)
        switch callback.callback.role {
        case .launch:
            delivery.subject = .launch(Launch(reason: launch.reason, previous: lastExit, url: launch.url))
        // The time of the tasks runs when the last scene has left the foreground.
        case .background where callback.callback == .didEnterBackground || state == .background:
            delivery.taskTime = policy.timeouts.task
        case .background, .activation, .resignation, .arrival, .disconnection, .event, .notice: break
        }
        if let scene = callback.scene {
            delivery.subject = reasonToTell(callback.callback, of: scene).map { .scene($0) }
        }
        return delivery
    }

    /// Returns the state that a callback names. During its launch an app is inactive, or in the background if it was launched
    /// there, whatever its state is by then.
    private func stateToTell(_ callback: Callback) -> AppState {
        switch callback.role {
        case .launch: callback == .willFinishLaunching || wasInForeground ? .inactive : .background
        case .activation, .resignation, .background, .disconnection: state
        // An app that is still to be told that it is active is not, as far as it knows.
        case .arrival, .event, .notice: outbox.callbacks.isEmpty || !state.isForeground ? state : .inactive
        }
    }

    /// Returns the instant by which the app must answer a callback that it is sent now.
    func answerDeadline(of callback: Callback, _ shared: borrowing Shared) -> Instant {
        let timeouts = policy.timeouts
        let now = shared.now
        switch callback.role {
        case .resignation: return now + timeouts.willResignActive
        case .background: return now + timeouts.didEnterBackground
        case .disconnection: return shared.deadlines[.sceneDisconnection, index] ?? now + timeouts.callback
        case .launch:
            let limit = now + timeouts.launch
            return min(limit, shared.deadlines[.launch, index] ?? limit)
        case .activation, .arrival, .event, .notice: return now + timeouts.callback
        }
    }

    // MARK: Resignations

    /// A Boolean value that indicates whether the app is giving up its activation slot: it, or the last of its active scenes,
    /// was told to resign and has not answered.
    var isResigning: Bool {
        phase.sentCallback != nil || !outbox.resignations.isEmpty ? hasUnansweredResignation : false
    }

    private var hasUnansweredResignation: Bool {
        if hasScenes, scenes.activeCount > 0 {
            return scenes.all.allSatisfy { $0.state != .foregroundActive || isResigning($0.id) }
        }
        return isResigning(nil)
    }

    /// A Boolean value that indicates whether the sent callback is a resignation.
    private var isResignationSent: Bool { sentCallback?.delivery.pending.isResignation ?? false }

    /// Returns whether the app has an unanswered resignation of this scene, or, without a scene, of itself.
    func isResigning(_ scene: SceneID?) -> Bool {
        if let pending = sentCallback?.delivery.pending, pending.isResignation, pending.scene == scene { return true }
        return outbox.resignations.contains { $0.delivery.pending.scene == scene }
    }

    /// The active subjects of callbacks: the app, which is nil, or its active scenes.
    private var activeSubjects: [SceneID?] {
        guard hasScenes else { return state == .active ? [nil] : [] }
        return scenes.all.filter { $0.state == .foregroundActive }.map { $0.id }
    }

    /// Makes the app, or its active scenes, inactive without a callback: the app was not told that they are active.
    mutating func becomeInactiveUntold(_ shared: inout Shared) {
        for subject in activeSubjects { becomeInactive(subject, &shared) }
    }

    /// Makes the scene, or without a scene the app, inactive.
    private mutating func becomeInactive(_ scene: SceneID?, _ shared: inout Shared) {
        if let scene { transition(scene, to: .foregroundInactive, &shared) } else { transition(to: .inactive, &shared) }
    }

    /// The next resignation that the app has to be sent: of itself, or of one of its active scenes.
    private var dueResignation: PendingCallback? {
        guard hasScenes else {
            let isDue = state == .active && destination != .active && !isResigning(nil)
            return isDue ? .resignation(of: nil) : nil
        }
        let scene = scenes.all.first {
            $0.state == .foregroundActive && sceneTarget(of: $0) != .foregroundActive && !isResigning($0.id)
        }
        return scene.map { .resignation(of: $0.id) }
    }

    /// Sends a resignation that is due at once, after an unanswered callback; returns whether a step was taken.
    mutating func sendResignation(_ shared: inout Shared) -> Bool {
        guard channel == .connected, let resignation = dueResignation else { return false }
        let isStale = { (callback: PendingCallback) in callback.isActivation && callback.scene == resignation.scene }
        // An app, or a scene, that was never told that it is active need not be told that it is not.
        if outbox.callbacks.contains(where: isStale) {
            outbox.callbacks.removeAll(where: isStale)
            becomeInactive(resignation.scene, &shared)
            return true
        }
        guard phase.sentCallback != nil else { return false }
        send(resignation, next: resignation.stateAfterResignation, &shared)
        return true
    }

    /// Awaits the answer to the next resignation, for which the app has a whole second after the callback before it.
    private mutating func awaitNextResignation(_ shared: inout Shared) {
        guard case .running(let state, sentCallback: nil) = phase, !outbox.resignations.isEmpty else { return }
        let next = outbox.resignations.removeFirst()
        phase = .running(state, sentCallback: next)
        let deadline = max(next.delivery.deadline, shared.now + policy.timeouts.willResignActive)
        shared.deadlines.set(.answer, index, at: deadline)
    }

    /// Separates a resignation from the step that it holds up. The app still has to answer it.
    private mutating func keepResignation(scene: SceneID?, _ shared: inout Shared) {
        if case .running(let state, var sentCallback?) = phase, sentCallback.delivery.pending.isResignation,
            sentCallback.delivery.pending.scene == scene
        {
            sentCallback.next = nil
            phase = .running(state, sentCallback: sentCallback)
        }
        guard let position = outbox.resignations.firstIndex(where: { $0.delivery.pending.scene == scene }) else {
            return
        }
        outbox.resignations[position].next = nil
        shared.announce(.answerOverdue(id, outbox.resignations[position].delivery.callback), of: index)
    }

    /// Takes the activation slot from an app that did not resign in time. A callback before that has the rest of its time.
    mutating func resignationOverdue(_ shared: inout Shared) {
        guard state == .active else { return }
        let position = shared.ready.announcements.count
        let before = sentCallback
        resignUnanswered(&shared)
        // A callback with more time than its slot, which is still unanswered, is not overdue.
        if let before, sentCallback != before {
            shared.ready.announcements.insert(
                .decision(.answerOverdue(id, before.delivery.callback), of: index), at: position)
        }
    }

    /// Makes the app, or each active scene, inactive without an answer. If it was not told yet, it is told late.
    private mutating func resignUnanswered(_ shared: inout Shared) {
        // It handles what it was sent before, and then this.
        let isAwaited = isAwaitedBeyondSlot(shared)
        if !isAwaited, isReconnecting || isResignationSent { completeUnheard(&shared) }
        for subject in activeSubjects {
            if isAwaited, isResigning(subject) {
                keepResignation(scene: subject, &shared)
            } else if isConnected {
                outbox.callbacks.append(.resignation(of: subject))
            }
            becomeInactive(subject, &shared)
        }
    }

    /// Returns whether an unanswered resignation stays unanswered when the slot is lost: it was sent after another callback.
    private func isAwaitedBeyondSlot(_ shared: borrowing Shared) -> Bool {
        if !outbox.resignations.isEmpty { return true }
        guard isResignationSent, let due = shared.deadlines[.answer, index] else { return false }
        return due > shared.now
    }

    // MARK: Answers

    private mutating func apply(_ answer: AppAnswer, to sequence: UInt64, _ shared: inout Shared) {
        if outbox.task?.sequence == sequence { return endTask(&shared) { $0.outcome(of: answer) } }
        // An answer after its deadline finds no callback that awaits it, and is too late by definition.
        guard let sentCallback, sentCallback.delivery.sequence == sequence else {
            return applyEarlyAnswer(to: sequence, &shared)
        }
        let delivery = sentCallback.delivery
        let time = shared.now.duration(since: sentCallback.sent)
        shared.announce(.answered(id, delivery.callback, time), of: index)
        noteLaunchAnswer(delivery.callback, answer, &shared)
        if delivery.callback == .didFinishLaunching {
            launch.isComplete = true
            shared.deadlines.clear(.launch, index)
        }
        if let event = delivery.event { finish(event, event.event.outcome(of: answer), &shared) }
        completePendingCallback(next: sentCallback.next, answerTime: time, &shared)
    }

    /// Applies the answer to a resignation that came before the answer to the callback that it was sent after.
    private mutating func applyEarlyAnswer(to sequence: UInt64, _ shared: inout Shared) {
        guard let position = outbox.resignations.firstIndex(where: { $0.delivery.sequence == sequence }) else { return }
        let resignation = outbox.resignations.remove(at: position)
        let time = shared.now.duration(since: resignation.sent)
        shared.announce(.answered(id, resignation.delivery.callback, time), of: index)
        enter(resignation.next, scene: resignation.delivery.pending.scene, answerTime: time, &shared)
    }

    /// Takes the step that the sent callback holds up.
    mutating func completePendingCallback(next: NextState?, answerTime: Duration? = nil, _ shared: inout Shared) {
        let scene = sentCallback?.delivery.pending.scene
        abandonPendingOperation()
        shared.deadlines.clear(.answer, index)
        enter(next, scene: scene, answerTime: answerTime, &shared)
        awaitNextResignation(&shared)
        forgetClosedScenes(&shared)
        answerWaiters(&shared)
    }

    /// Takes the step that the sent callback holds up without its answer.
    mutating func completeWithoutAnswer(_ shared: inout Shared) {
        guard let sentCallback else { return }
        abandonEvent(.unanswered, &shared)
        completePendingCallback(next: sentCallback.next, &shared)
    }

    /// Completes a callback without an answer, and sends it again to an app that reconnects without having received it.
    private mutating func completeUnheard(_ shared: inout Shared) {
        if isReconnecting, let sentCallback, sentCallback.delivery.event == nil {
            outbox.callbacks.insert(sentCallback.delivery.pending, at: 0)
            channel = .reconnecting(mayHaveReceivedNext: true)
        }
        completeWithoutAnswer(&shared)
    }

    /// Enters the state that an answer leads to, if that is still a legal step.
    mutating func enter(_ next: NextState?, scene: SceneID?, answerTime: Duration?, _ shared: inout Shared) {
        switch next {
        case .app(let next):
            guard let edge = edge(to: next.appState), edge.process == nil else { return }
            transition(to: next.appState, answerTime: answerTime, &shared)
        case .scene(let next):
            guard let scene, scenes[scene]?.state.edge(to: next) != nil else { return }
            transition(scene, to: next, answerTime: answerTime, &shared)
        case nil: break
        }
    }

    /// Handles a callback that the app did not answer in time; returns the reason if it is killed for that.
    mutating func answerOverdue(_ shared: inout Shared) -> Reason? {
        guard let sentCallback else { return nil }
        let callback = sentCallback.delivery.callback
        // The loss of the slot was reported when it happened.
        let wasReported =
            sentCallback.delivery.pending.isResignation && sentCallback.next == nil
            && sentCallback.delivery.deadline < shared.now
        if !wasReported { shared.announce(.answerOverdue(id, callback), of: index) }
        // Its answer cannot be foreseen: there was no daemon to answer to.
        if isReconnecting {
            disconnect(&shared)
            return nil
        }
        switch callback.role {
        case .activation: if state == .active { outbox.overdueActivation = callback }
        case .background: return .backgroundTimeout
        case .launch: if !isReady { return .launchTimeout }
        case .resignation, .arrival, .disconnection, .event, .notice: break
        }
        completeWithoutAnswer(&shared)
        return nil
    }
}
