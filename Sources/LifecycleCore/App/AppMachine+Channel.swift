// The channel of an app: it connects, the channel ends, and the app reconnects after a restart of the daemon.

/// The channel of an app.
public enum ChannelState: Sendable, Equatable {
    /// The app is not connected.
    case none
    /// The app gets callbacks.
    case connected
    /// The channel ended, or its daemon did, and the app may come back. The first pending callback may have been received.
    case reconnecting(mayHaveReceivedNext: Bool)
}

extension AppMachine {
    /// The time in which the exit of a process is seen after the kernel closed its end of the channel.
    static let exitTime = Duration.seconds(1)
    /// The time that a running app has to reconnect: longer than its library waits between two attempts.
    static let reconnectionTime = Duration.seconds(35)
    /// The time that it has when it is to come to the foreground: two attempts of its library, which waits 4 s at most.
    static let foregroundReconnectionTime = Duration.seconds(10)
    /// The time in which the daemon reads what an app answered while no daemon was there, if its deadline has passed.
    static let readingTime = Duration.milliseconds(250)

    /// Connects the app, at any time: it catches up from its state, launch callbacks first. An active app becomes inactive
    /// for them, which every observer sees, and active again.
    mutating func connect(_ shared: inout Shared) {
        if state == .active { becomeInactiveUntold(&shared) }
        channel = .connected
        shared.deadlines.clear(.hello, index)
        outbox.callbacks = PendingCallback.launch
        outbox.callbacks += sceneCatchUp
        scenes.forgetDisconnections()
        if !hasScenes, wasInForeground, state == .background || state == .suspended {
            outbox.callbacks.append(.background)
        }
        shared.deadlines.clear(.background, index)
    }

    /// Handles the end of the channel, which may be that of the process. Until the exit is seen or its time has passed,
    /// the app keeps its state, takes no step, and no request is answered: an exit counts. Nothing is overdue meanwhile.
    mutating func channelEnded(_ shared: inout Shared) {
        if channel == .connected { channel = .reconnecting(mayHaveReceivedNext: false) }
        let end = shared.now + Self.exitTime
        shared.deadlines.clear(.reconnection, index)
        shared.deadlines.set(.exit, index, at: end)
        // An app that closes its channel again and again must not put them off for ever.
        shared.deadlines.postpone([.answer, .launch, .taskExpiration], index, to: end, again: false)
    }

    /// Handles the end of the channel of an app whose process did not end.
    mutating func exitOverdue(_ shared: inout Shared) {
        guard isConnected else { return }
        disconnect(&shared)
        if state == .background { startBackgroundTime(&shared) }
    }

    /// Ends the life cycle of an app that begins another one. Events with an outcome that it was not sent wait for the new one.
    mutating func endLifeCycle(_ shared: inout Shared) {
        let events = outbox.events.filter { $0.event.hasOutcome }
        outbox.events = []
        disconnect(&shared)
        outbox.events = events
        guard launch.isComplete else { return }
        launch.isComplete = false
        if !isReady { shared.deadlines.set(.launch, index, at: shared.now + policy.timeouts.launch) }
    }

    /// Goes on with the app as with one without callbacks.
    mutating func disconnect(_ shared: inout Shared) {
        channel = .none
        endWaitForChannel(&shared)
        outbox.callbacks = []
        outbox.resignations = []
        outbox.overdueActivation = nil
        dropAssertions(&shared)
        dropEvents(.notListening, &shared)
        // The event that it was sent has its outcome.
        if let sentCallback { completePendingCallback(next: sentCallback.next, &shared) }
        forgetClosedScenes(&shared)
    }

    /// Gives the app its time to reconnect. A stopped app cannot reconnect before it is continued.
    mutating func awaitReconnection(_ shared: inout Shared) {
        guard isReconnecting, state.isAlive, state != .suspended else { return }
        let end = shared.now + Self.reconnectionTime
        shared.deadlines.set(.reconnection, index, at: end)
        shared.deadlines.postpone([.answer, .launch, .performTask, .taskExpiration], index, to: end)
    }

    /// Ends the time to reconnect. What was postponed for it is due as it was, after what the app has said meanwhile.
    private func endWaitForChannel(_ shared: inout Shared) {
        shared.deadlines.clear(.reconnection, index)
        shared.deadlines.clear(.exit, index)
        shared.deadlines.endPostponement(index, notBefore: shared.now + Self.readingTime)
    }

    /// Shortens the time to reconnect of an app that the user waits for. It has no less than for the callback that it was sent.
    mutating func hastenReconnection(_ shared: inout Shared) {
        guard target.isForeground, !state.isForeground, let end = shared.deadlines[.reconnection, index] else { return }
        let answer = sentCallback?.delivery.deadline ?? shared.now
        let soon = max(answer, shared.now + Self.foregroundReconnectionTime)
        if soon < end { shared.deadlines.set(.reconnection, index, at: soon) }
    }

    /// Goes on with an app that has reconnected and has received the callbacks up to this number.
    mutating func reconnect(lastSequence: UInt64, _ shared: inout Shared) {
        let mayHaveReceivedNext = channel == .reconnecting(mayHaveReceivedNext: true)
        channel = .connected
        endWaitForChannel(&shared)
        if shared.deadlines[.taskExpiration, index] != nil { expireTasksAgain(&shared) }
        // The task began before any other unanswered callback was sent.
        repeatTask(lastSequence: lastSequence, &shared)
        dropUnheardActivation(lastSequence: lastSequence, &shared)
        awaitAnswerAgain(lastSequence: lastSequence, &shared)
        repeatResignations(lastSequence: lastSequence, &shared)
        if mayHaveReceivedNext, outbox.lastSequence <= lastSequence, !outbox.callbacks.isEmpty {
            outbox.callbacks.removeFirst()
        }
        // The app would believe that it is active while another one is.
        outbox.removeStaleActivations()
    }

    /// Awaits the task again: with its deadline if the app has received it, else sent now, with all its time.
    private mutating func repeatTask(lastSequence: UInt64, _ shared: inout Shared) {
        guard target.isAlive, var task = outbox.task, task.sequence > lastSequence else { return }
        task.deadline = shared.now + policy.timeouts.task
        outbox.task = task
        shared.ready.messages.append(.deliver(index, task))
        shared.deadlines.set(.performTask, index, at: task.deadline)
    }

    /// Drops an activation with its resignation if the app has received neither.
    private mutating func dropUnheardActivation(lastSequence: UInt64, _ shared: inout Shared) {
        guard let sentCallback, sentCallback.delivery.pending.isActivation,
            sentCallback.delivery.sequence > lastSequence,
            let position = outbox.resignations.firstIndex(where: {
                $0.delivery.pending.scene == sentCallback.delivery.pending.scene
            })
        else { return }
        let resignation = outbox.resignations.remove(at: position)
        completePendingCallback(next: nil, &shared)
        enter(resignation.next, scene: sentCallback.delivery.pending.scene, answerTime: nil, &shared)
    }

    /// Awaits the callback again: with its deadline if the app has received it, else sent now, with all its time.
    private mutating func awaitAnswerAgain(lastSequence: UInt64, _ shared: inout Shared) {
        guard case .running(let state, var sentCallback?) = phase else { return }
        let isUnheard = sentCallback.delivery.sequence > lastSequence
        if isUnheard {
            // An app that was to end then may be needed again, and may have lost a scene for another reason.
            if let scene = sentCallback.delivery.pending.scene,
                let reason = reasonToTell(sentCallback.delivery.callback, of: scene),
                reason != .reclaimed || sentCallback.delivery.sceneReason != .terminating
            {
                sentCallback.delivery.subject = .scene(reason)
                // This callback says what a second one would.
                if reason == .closed {
                    outbox.callbacks.removeAll { [pending = sentCallback.delivery.pending] in $0 == pending }
                }
            }
            sendAgain(&sentCallback, &shared)
            phase = .running(state, sentCallback: sentCallback)
        }
        let delivery = sentCallback.delivery
        guard delivery.callback != .willResignActive || shared.deadlines[.resignation, index] == nil else { return }
        // A record may say anything; no app has longer than an app that is sent the callback now.
        let limit = answerDeadline(of: delivery.callback, shared)
        if let due = shared.deadlines[.answer, index], due <= limit, !isUnheard { return }
        shared.deadlines.set(.answer, index, at: min(delivery.deadline, limit))
        shared.deadlines.postpone([.answer], index, to: shared.now + Self.readingTime)
    }

    private mutating func repeatResignations(lastSequence: UInt64, _ shared: inout Shared) {
        for position in outbox.resignations.indices
        where outbox.resignations[position].delivery.sequence > lastSequence {
            var resignation = outbox.resignations[position]
            sendAgain(&resignation, &shared)
            outbox.resignations[position] = resignation
        }
    }

    /// Sends a callback that the app has not received again, with all its time.
    private func sendAgain(_ callback: inout SentCallback, _ shared: inout Shared) {
        callback.delivery.deadline = answerDeadline(of: callback.delivery.callback, shared)
        limitTaskTime(of: &callback.delivery, shared)
        callback.sent = shared.now
        shared.ready.messages.append(.deliver(index, callback.delivery))
        extendSlot(for: callback.delivery, &shared)
    }
}
