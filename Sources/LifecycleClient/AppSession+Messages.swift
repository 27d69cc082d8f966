import AppChannel
import LifecycleTypes

/// The messages of the daemon, and those to it.
extension AppSession {
    mutating func handle(_ message: MessageToApp, now: Int64) {
        switch message {
        case .welcome: handleWelcome()
        case .unmanaged:
            continueUnmanaged()
            forgiveRefusals(now: now)
        case .callback(let callback):
            guard answers.receive(callback.sequence, callback.kind) else { return repeatAnswer(to: callback.sequence) }
            noteBackgroundTime(callback, now: now)
            scenes.noteArrival(callback)
            deliver(callback)
        case .unknownCallback(let sequence):
            guard answers.receive(sequence) else { return repeatAnswer(to: sequence) }
            sendAnswer(.plain, to: sequence)
        case .granted(let id, let timeLeft):
            if let timeLeft { limitBackground(to: timeLeft, now: now) }
            if let message = assertions.grant(id) { send(message) }
        case .refused(let id, let reason):
            refuse(id, reason: reason)
        case .expireTask(let id, let deadline):
            if assertions.expire(id) {
                events.append(.expire(id, deadlineMilliseconds: deadline))
            } else if let message = assertions.endAgain(id) {
                // The daemon has not heard of it, or lost it, and would kill the app for a task that has ended.
                send(message)
            }
        case .timeLeft(let milliseconds):
            isAskingForTime = false
            if let milliseconds { limitBackground(to: milliseconds, now: now) } else { backgroundEnd = nil }
        // The library made the line, so that there is nothing that the app could do better.
        case .mistake: break
        case .goodbye:
            close()
        }
    }

    private mutating func handleWelcome() {
        switch channel {
        // A daemon that restored the channel asks for the messages that the previous daemon may have lost.
        case .open:
            // The request may be lost with the previous daemon.
            isAskingForTime = false
            resendMessages()
        case .unmanaged:
            channel = .open
            assertions.suspend()
            resendMessages()
        case .none, .absent, .greeted, .lost, .closed: break
        }
        channel = .open
        refusals = 0
        // Not before: the channel may end without an answer, or the daemon not manage the app.
        for message in waitingScenes { send(message) }
        waitingScenes = []
    }

    mutating func sendAnswer(_ answer: AppAnswer, to sequence: SequenceNumber, isWork: Bool = false) {
        if let message = answers.answer(sequence, isWork: isWork, answer) { send(message) }
    }

    private mutating func repeatAnswer(to sequence: SequenceNumber) {
        if let message = answers.again(sequence) { send(message) }
    }

    private mutating func noteBackgroundTime(_ callback: CallbackMessage, now: Int64) {
        switch callback.kind.role {
        case .background:
            let number = try? callback.fields.number(of: "background-ms")
            if let milliseconds = number { limitBackground(to: milliseconds, now: now) }
        case .event where callback.kind == .performTask && callback.state == .background:
            // A woken app has at least the time of its work.
            let before = backgroundEnd
            limitBackground(to: callback.deadlineMilliseconds, now: now)
            if let before, let end = backgroundEnd, before > end { backgroundEnd = before }
        case .arrival where callback.kind != .sceneWillConnect, .activation:
            backgroundEnd = nil
            assertions.endExpirations()
        case .launch, .resignation, .arrival, .disconnection, .event, .notice: break
        }
    }

    private mutating func limitBackground(to milliseconds: Int64, now: Int64) {
        let (end, overflows) = now.addingReportingOverflow(milliseconds)
        backgroundEnd = overflows ? nil : end
    }

    /// Asks the daemon how much time is left, unless an answer is still to come or there is nothing to ask.
    mutating func askForTimeLeft() {
        guard isOpen, !isAskingForTime, state == .background else { return }
        isAskingForTime = true
        send(.timeLeft)
    }

    mutating func send(_ message: MessageFromApp) {
        guard isManaged, !isLost, let bytes = try? message.encoded() else { return }
        output += bytes
    }
}
