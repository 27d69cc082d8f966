internal import AppChannel

extension Session {
    mutating func handle(_ message: MessageToApp, now: Int64) {
        switch message {
        case .welcome:
            // A daemon that has taken over the channel asks so for what the one before may have heard and lost.
            if isOpen { sayAgain() }
            channel = .open
            refusals = 0
        case .callback(let callback):
            guard answers.receive(callback.sequence) else { return repeatAnswer(to: callback.sequence) }
            noteBackgroundTime(callback, now: now)
            events.append(.callback(callback))
        case .unknownCallback(let sequence):
            guard answers.receive(sequence) else { return repeatAnswer(to: sequence) }
            send(answers.answer(sequence, .plain))
        case .granted(let id):
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
        case .goodbye:
            close()
        }
    }

    private mutating func repeatAnswer(to sequence: SequenceNumber) {
        if let message = answers.again(sequence) { send(message) }
    }

    private mutating func noteBackgroundTime(_ callback: CallbackMessage, now: Int64) {
        switch callback.kind {
        case .didEnterBackground, .sceneDidEnterBackground:
            let number = try? callback.fields.number(of: "background-ms")
            guard let milliseconds = number else { return }
            backgroundEnd = now.addingReportingOverflow(milliseconds).overflow ? nil : now + milliseconds
        case .willEnterForeground, .didBecomeActive, .sceneWillEnterForeground, .sceneDidBecomeActive:
            backgroundEnd = nil
        default:
            break
        }
    }

    mutating func send(_ message: MessageFromApp) {
        guard isManaged, !isLost, let bytes = try? message.encoded() else { return }
        output += bytes
    }

    /// What an app is told that nobody manages: it is in front and stays there.
    mutating func launchToFront() {
        channel = .none
        let launch = [Field("reason", "launch")]
        tell(.willFinishLaunching, .inactive, launch)
        tell(.didFinishLaunching, .inactive, launch)
        if usesScenes { showScene(.main, reason: "person") } else { tell(.didBecomeActive, .active) }
    }
}
